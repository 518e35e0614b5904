// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"errors"
	"fmt"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/kubeapi"
	"github.com/pipedeck/pipedeck/devenv/controlplane/deckapi"
	"github.com/pipedeck/pipedeck/devenv/podlog"
)

// podLog follows the log of a pod. Its errors are for users and end with the next step.
func (all runningClusters) podLog(ctx context.Context, p deckapi.Pod, pass func([]podlog.Line) error) error {
	c := all.named(p.Target)
	if c == nil {
		return fmt.Errorf("%s runs in %q, which is not a cluster of this environment; read its log with the tools of "+
			"that cluster", p.Name, p.Target)
	}
	d := c.provider.Describe()
	byHand := fmt.Sprintf("read it with: kubectl --kubeconfig %s logs -f -n %s %s", d.Kubeconfig, p.Namespace, p.Name)
	if d.Kind == cluster.Existing { // whose credentials may need programs and libraries of their vendors
		return fmt.Errorf("logs of pods are shown for clusters that pipedeck has created; %s", byHand)
	}
	api, err := kubeapi.Connect(d.Kubeconfig)
	if err != nil {
		return fmt.Errorf("reach cluster %s: %w; see pipedeck status", c.name, err)
	}
	defer api.Close()
	err = podlog.Follow(ctx, api, p.Namespace, p.Name, pass)
	var answer *kubeapi.StatusError
	if errors.As(err, &answer) && answer.Message != "" {
		return fmt.Errorf("%s; see what holds it up in the resources", answer.Message)
	}
	return err
}
