// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// beatInterval is the time between two questions to a cluster, beatTimeout that for its answer.
	beatInterval = 3 * time.Second
	beatTimeout  = 3 * time.Second
	// maxMissed is the number of questions in a row that a cluster may leave open: one is lost while it starts again.
	maxMissed = 2
	// maxBody is what is read of an answer, in bytes.
	maxBody = 64 << 10
)

// watchCluster asks a cluster that is ready for its health until ctx ends, and reports when it does not answer.
func (e *Environment) watchCluster(ctx context.Context, c *runningCluster) {
	defer e.server.ClearProblem(c.component)
	missed := 0
	health := &healthClient{}
	defer health.close()
	for clock.Sleep(ctx, beatInterval) {
		d := c.provider.Describe()
		if d.Kubeconfig == "" {
			continue
		}
		err := health.ask(ctx, d.Kubeconfig)
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

// healthClient asks an API server for its health. It keeps its connection, and is made again when the kubeconfig
// changes.
type healthClient struct {
	kubeconfig []byte
	client     *http.Client
	host       string
}

// ask asks the API server whether it is ready. An answer that refuses the caller is one, unless it does not know the
// credentials.
func (h *healthClient) ask(ctx context.Context, kubeconfig string) error {
	if err := h.open(kubeconfig); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(h.host, "/")+"/readyz", nil)
	if err != nil {
		return err
	}
	response, err := h.client.Do(request)
	if err != nil {
		h.client.CloseIdleConnections() // this one may lead nowhere
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("no answer from %s within %s", h.host, beatTimeout)
		}
		return err
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxBody)) // so that the connection can be used again
	if code := response.StatusCode; code == http.StatusUnauthorized || code >= http.StatusInternalServerError {
		return fmt.Errorf("%s answers %s", request.URL, response.Status)
	}
	return nil
}

func (h *healthClient) open(kubeconfig string) error {
	content, err := os.ReadFile(kubeconfig)
	if err != nil {
		return err
	}
	if h.client != nil && bytes.Equal(content, h.kubeconfig) {
		return nil
	}
	h.close()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	h.kubeconfig, h.client, h.host = content, client, config.Host
	return nil
}

func (h *healthClient) close() {
	if h.client != nil {
		h.client.CloseIdleConnections()
		h.client = nil
	}
}

// clusterAdvice is what a user does about a cluster that does not answer.
func (e *Environment) clusterAdvice(c *runningCluster, d cluster.Description) string {
	look := "kubectl --kubeconfig " + d.Kubeconfig + " get --raw /readyz"
	switch d.Kind {
	case cluster.InDocker:
		return "list its nodes: docker ps --all --filter label=io.x-k8s.kind.cluster; start a stopped one: " +
			"docker start NAME; continue a paused one: docker unpause NAME"
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
