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
	"github.com/pipedeck/pipedeck/devenv/helper"
	"github.com/pipedeck/pipedeck/devenv/services"
)

// open makes an application reachable from this machine. Its errors are for users and end with the
// next step.
func (e *Environment) open(ctx context.Context, o deckapi.Opening) (url, detail string, err error) {
	c := e.clusters.named(o.Target)
	if c == nil {
		return "", "",
			fmt.Errorf("%s is deployed to %q, which is no cluster of this environment; reach it by its own tools",
				o.Name, o.Target)
	}
	select {
	case <-c.ready.done:
	default:
		return "", "", fmt.Errorf("cluster %s is still starting; see how far it is with: pipedeck status", c.name)
	}
	d := c.provider.Describe()
	switch {
	case d.Kubeconfig == "":
		return "", "", fmt.Errorf("this environment has no cluster to reach %s in; %s", o.Name, e.withKind())
	case d.Simulated:
		return "", "", fmt.Errorf("the cluster is simulated: no container of %s runs that could answer; %s", o.Name,
			e.withPods())
	}
	if err := (&healthClient{}).askOnce(ctx, c.provider, d.Kubeconfig); err != nil {
		return "", "", fmt.Errorf("cluster %s does not answer: %w; %s", c.name, err, e.clusterAdvice(c, d))
	}
	if d.Local {
		address, err := published(ctx, d.Kubeconfig, services.Request{
			Cluster: c.name, ApplicationID: o.ApplicationID, Name: o.Name, Port: o.Port,
		})
		switch {
		case errors.Is(err, cluster.ErrSimulated):
			return "", "", fmt.Errorf("%w; give its image a program with: pipedeck up --local-image IMAGE=PROGRAM", err)
		case !errors.Is(err, services.ErrNotPublished):
			return address.URL, address.Detail, err
		}
	}
	return e.Helper.Open(ctx, helper.Opening{
		Cluster: c.name, Kubeconfig: d.Kubeconfig, ApplicationID: o.ApplicationID, Name: o.Name, Port: o.Port,
	})
}

// published asks the cluster itself, which takes milliseconds; the helper is a process.
func published(ctx context.Context, kubeconfig string, r services.Request) (services.Address, error) {
	api, err := kubeapi.Connect(kubeconfig)
	if err != nil {
		return services.Address{}, fmt.Errorf("reach the cluster of %s: %w; see pipedeck status", r.Cluster, err)
	}
	defer api.Close()
	return services.Open(ctx, api, r)
}
