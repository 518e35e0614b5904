// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

const (
	// beatInterval is the time between two questions to a cluster, beatTimeout that for its answer.
	beatInterval = 3 * time.Second
	beatTimeout  = 3 * time.Second
	// maxMissed is the number of questions in a row that a cluster may leave open: one is lost while it starts again.
	maxMissed = 2
)

// watchCluster asks a cluster that is ready for its health until ctx ends, and reports when it does not answer.
func (e *Environment) watchCluster(ctx context.Context, c *runningCluster) {
	defer e.server.ClearProblem(c.component)
	missed := 0
	for pause(ctx, beatInterval) {
		d := c.provider.Describe()
		if d.Kubeconfig == "" {
			continue
		}
		err := askHealth(ctx, d.Kubeconfig)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			missed = 0
			e.server.ClearProblem(c.component)
			continue
		}
		if missed++; missed >= maxMissed {
			e.server.SetProblem(store.Problem{
				Part: c.component, Component: c.component,
				Reason:   "the cluster does not answer: " + err.Error(),
				NextStep: e.clusterAdvice(c, d),
			})
		}
	}
}

// askHealth asks the API server whether it is ready. An answer that refuses the caller is one, unless it does not know
// the credentials.
func askHealth(ctx context.Context, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(config.Host, "/")+"/readyz", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer from %s within %s", config.Host, beatTimeout)
	case err != nil:
		return err
	}
	defer response.Body.Close()
	if code := response.StatusCode; code == http.StatusUnauthorized || code >= http.StatusInternalServerError {
		return fmt.Errorf("%s answers %s", request.URL, response.Status)
	}
	return nil
}

// clusterAdvice is what a user does about a cluster that does not answer.
func (e *Environment) clusterAdvice(c *runningCluster, d cluster.Description) string {
	look := "kubectl --kubeconfig " + d.Kubeconfig + " get --raw /readyz"
	switch d.Kind {
	case cluster.InDocker:
		return "see that its nodes run: docker ps --all --filter label=io.x-k8s.kind.cluster; start one with: docker start NAME"
	case cluster.Embedded:
		e.mu.Lock()
		child := e.running.Processes[c.component]
		e.mu.Unlock()
		if child.PID == 0 {
			return e.seeLogs()
		}
		return fmt.Sprintf("end its process, which is started again by itself: kill -9 %d", child.PID)
	default:
		return "see that the cluster runs and can be reached: " + look
	}
}
