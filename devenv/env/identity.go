// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"time"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/kubeapi"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// identityDeadline bounds the question to a cluster that has just become ready.
	identityDeadline = 20 * time.Second
	identityPause    = 200 * time.Millisecond
)

// recognise shows the control plane which cluster this is. One that was made again, or another one in its
// place, has none of what was deployed before, so that is deployed again.
func (e *Environment) recognise(ctx context.Context, c *runningCluster) {
	ctx, cancel := context.WithTimeout(ctx, identityDeadline)
	defer cancel()
	d := c.provider.Describe()
	identity := string(d.Kind)
	if d.Kubeconfig != "" {
		var err error
		for identity, err = c.identity(ctx, d.Kubeconfig); err != nil; identity, err = c.identity(ctx, d.Kubeconfig) {
			if !clock.Sleep(ctx, identityPause) {
				e.Logger.Warn("the cluster cannot be distinguished from others; "+
					"nothing is deployed again because of it",
					"cluster", c.name, "error", err)
				return
			}
		}
	}
	if n := e.server.Recognise(c.name, identity); n > 0 {
		e.Logger.Info("the cluster is another one than before; its applications are deployed again", "cluster", c.name,
			"applications", n)
	}
}

// identity asks the cluster, or the provider where that asks it.
func (c *runningCluster) identity(ctx context.Context, kubeconfig string) (string, error) {
	if questions, ok := c.provider.(cluster.Questions); ok {
		return questions.Identity(ctx)
	}
	api, err := kubeapi.Connect(kubeconfig)
	if err != nil {
		return "", err
	}
	defer api.Close()
	return api.Identity(ctx)
}
