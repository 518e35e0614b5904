// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	kubeprobe "k8s.io/kubernetes/pkg/probe"
	httpprobe "k8s.io/kubernetes/pkg/probe/http"
)

// hookTimeout bounds a postStart hook; a preStop hook has the time that the container has to end.
const hookTimeout = 10 * time.Minute

// hook is a lifecycle hook that runs in the background.
type hook struct {
	cancel context.CancelFunc

	mu   sync.Mutex
	over bool
	err  error
}

// startHook starts a hook of the container's run. A zero deadline is the longest.
func (c *container) startHook(handler *corev1.LifecycleHandler, deadline time.Time) *hook {
	if deadline.IsZero() {
		deadline = time.Now().Add(hookTimeout)
	}
	ctx, cancel := context.WithDeadline(c.pod.manager.ctx, deadline)
	h := &hook{cancel: cancel}
	do, look := c.handler(handler), c.pod.look
	go func() {
		defer cancel()
		err := do(ctx)
		h.mu.Lock()
		h.over, h.err = true, err
		h.mu.Unlock()
		look()
	}()
	return h
}

// result returns the hook's error once it is over.
func (h *hook) result() (err error, over bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err, h.over
}

// handler is what a hook does.
func (c *container) handler(handler *corev1.LifecycleHandler) func(context.Context) error {
	switch {
	case handler.Exec != nil:
		inside, command := c.inside(), handler.Exec.Command
		return func(ctx context.Context) error {
			output, err := inside.run(ctx, command)
			if err != nil {
				return fmt.Errorf("%w: %s", err, strings.TrimSpace(output))
			}
			return nil
		}
	case handler.HTTPGet != nil:
		return func(ctx context.Context) error {
			request, err := c.httpRequest(handler.HTTPGet, "lifecycle")
			if err != nil {
				return err
			}
			return get(ctx, request)
		}
	case handler.Sleep != nil:
		pause := time.Duration(handler.Sleep.Seconds) * time.Second
		return func(ctx context.Context) error {
			timer := time.NewTimer(pause)
			defer timer.Stop()
			select {
			case <-timer.C:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return func(context.Context) error { return nil } // tcpSocket does nothing in Kubernetes either
}

func get(ctx context.Context, request *http.Request) error {
	client := &http.Client{CheckRedirect: httpprobe.RedirectChecker(false), Transport: hookTransport}
	result, output, err := httpprobe.DoHTTPProbe(request.Clone(ctx), client)
	switch {
	case err != nil:
		return err
	case result == kubeprobe.Failure:
		return fmt.Errorf("%s", output)
	}
	return nil
}

// hookTransport goes to this machine only, so not through a proxy.
var hookTransport = &http.Transport{DisableKeepAlives: true}
