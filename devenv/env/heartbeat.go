// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/kubeapi"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
	"github.com/pipedeck/pipedeck/system/clock"
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
	health := &healthClient{}
	defer health.close()
	for clock.Sleep(ctx, beatInterval) {
		d := c.provider.Describe()
		if d.Kubeconfig == "" {
			continue
		}
		err := health.ask(ctx, c.provider, d.Kubeconfig)
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

// healthClient asks a cluster for its health. It keeps its connection, and is made again when the kubeconfig changes.
type healthClient struct {
	// file is the kubeconfig as it was when it was read.
	file       os.FileInfo
	kubeconfig []byte
	api        *kubeapi.Client
}

// ask asks the API server whether it is ready.
func (h *healthClient) ask(ctx context.Context, provider cluster.Provider, kubeconfig string) error {
	ctx, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	questions, ok := provider.(cluster.Questions)
	server := "its API server"
	if !ok {
		if err := h.open(kubeconfig); err != nil {
			return err
		}
		questions, server = h.api, h.api.Host
	}
	err := questions.Healthy(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer from %s within %s", server, beatTimeout)
	}
	return err
}

// askOnce is ask for a client that is not used again.
func (h *healthClient) askOnce(ctx context.Context, provider cluster.Provider, kubeconfig string) error {
	defer h.close()
	return h.ask(ctx, provider, kubeconfig)
}

func (h *healthClient) open(kubeconfig string) error {
	file, err := os.Stat(kubeconfig)
	if err == nil && h.api != nil && unchanged(h.file, file) {
		return nil
	}
	content, err := kubeapi.Read(kubeconfig)
	if err != nil {
		return err
	}
	h.file = file
	if h.api != nil && bytes.Equal(content, h.kubeconfig) {
		return nil
	}
	h.close()
	if h.api, err = kubeapi.Open(content); err == nil {
		h.kubeconfig = content
	}
	return err
}

// unchanged reports whether a file is the one from before, with the same content.
func unchanged(before, now os.FileInfo) bool {
	return before != nil && os.SameFile(before, now) && before.Size() == now.Size() &&
		before.ModTime().Equal(now.ModTime())
}

func (h *healthClient) close() {
	if h.api != nil {
		h.api.Close()
		h.api = nil
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
