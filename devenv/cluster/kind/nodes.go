// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/nodes"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// readyDeadline is far above what a slow machine needs.
	readyDeadline = 5 * time.Minute
	// apiPause lies between two tries to reach the API of a node that starts.
	apiPause = 100 * time.Millisecond
	// watchSeconds end a watch whose server has died without a word.
	watchSeconds = 30
)

// awaitNodes returns Kubernetes' version when every node is ready.
func (p *Provider) awaitNodes(ctx context.Context, engine *engineCommand, said func(string)) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, readyDeadline, errNotReady)
	defer cancel()
	started, err := p.startTimes(ctx, engine)
	if err != nil {
		return "", err
	}
	client, err := nodes.Connect(p.Kubeconfig)
	if err != nil {
		return "", &cluster.HintError{
			Err:  fmt.Errorf("use the kubeconfig %s: %w", p.Kubeconfig, err),
			Hint: "run pipedeck down; then pipedeck up",
		}
	}
	said(fmt.Sprintf("waiting for %s to be ready", line.Count(len(started), "node")))
	for {
		version, err := watchNodes(ctx, client, started)
		if err == nil {
			return version, nil
		}
		if !clock.Sleep(ctx, apiPause) {
			if errors.Is(context.Cause(ctx), errNotReady) {
				return "", &cluster.HintError{
					Err: fmt.Errorf("the nodes of the cluster %s are not ready after %v: %w", p.name, readyDeadline,
						err),
					Hint: "see " + p.LogFile + " and " + engine.name + " logs " + p.name + "-control-plane",
				}
			}
			return "", context.Cause(ctx)
		}
	}
}

var errNotReady = errors.New("the nodes are not ready in time")

// startTimes returns when each node's container was started. A load balancer is no node.
func (p *Provider) startTimes(ctx context.Context, engine *engineCommand) (map[string]time.Time, error) {
	containers, err := engine.nodes(ctx, p.name)
	if err != nil {
		return nil, err
	}
	started := map[string]time.Time{}
	for _, node := range containers {
		if strings.HasSuffix(node, loadBalancerSuffix) {
			continue
		}
		out, err := engine.run(ctx, "inspect", "--type=container", "--format", `{{json .State.StartedAt}}`, node)
		if err != nil {
			return nil, fmt.Errorf("look at the node %s: %w", node, err)
		}
		at, err := time.Parse(time.RFC3339Nano, strings.Trim(out, `"`))
		if err != nil {
			return nil, fmt.Errorf("look at the node %s: %w", node, err)
		}
		started[node] = at
	}
	if len(started) == 0 {
		return nil, fmt.Errorf("the cluster %s has no nodes", p.name)
	}
	return started, nil
}

// watchNodes lists and watches until all are ready; an error is the API's.
func watchNodes(ctx context.Context, client *nodes.Client, started map[string]time.Time) (string, error) {
	list, version, err := client.List(ctx)
	if err != nil {
		return "", err
	}
	versions := map[string]string{}
	see := func(node *nodes.Node) bool {
		delete(versions, node.Name)
		if at, ours := started[node.Name]; ours && isReady(node, at) {
			versions[node.Name] = node.Status.NodeInfo.KubeletVersion
		}
		return len(versions) == len(started)
	}
	for _, node := range list {
		if see(node) {
			return node.Status.NodeInfo.KubeletVersion, nil
		}
	}
	timeout := int64(watchSeconds)
	watcher, err := client.Watch(ctx, metav1.ListOptions{ResourceVersion: version, TimeoutSeconds: &timeout})
	if err != nil {
		return "", err
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		if node, ok := nodes.From(event.Object); ok && see(node) {
			return node.Status.NodeInfo.KubeletVersion, nil
		}
	}
	return "", fmt.Errorf("%d of %d nodes are ready", len(versions), len(started))
}

// isReady asks for what kind itself calls ready: the node's own word. The control plane takes a few
// seconds more until it places pods there. What was said before the node was started does not count:
// the API server remembers it over a restart. Kubernetes gives the time of a condition in whole seconds.
func isReady(node *nodes.Node, started time.Time) bool {
	for _, taint := range node.Spec.Taints {
		if taint.Key == nodes.Unreachable {
			return false
		}
	}
	ready, said := node.Ready()
	return said && ready.Status == nodes.StatusTrue &&
		!ready.LastHeartbeatTime.Time.Before(started.Truncate(time.Second))
}
