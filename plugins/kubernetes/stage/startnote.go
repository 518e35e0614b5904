// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"time"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
)

// beganKey is the plugin's metadata of a deployment that holds when it began to change a deploy target, by the clock of
// that cluster: the control plane's may differ, and what a deployment has created is recognised by its age.
func beganKey(app *config.Application) string {
	if target := app.DeployTarget(); target != "" {
		return "began/" + target
	}
	return "began"
}

// noteBegan notes when the deployment began, before its first change.
func noteBegan(ctx context.Context, req *Request, c *cluster.Client) error {
	key := beganKey(&req.Target.App)
	if _, found, err := req.Client.PluginMetadata(ctx, key); found || err != nil {
		return err
	}
	now, err := c.Now(ctx)
	if err != nil {
		return err
	}
	return req.Client.PutPluginMetadata(ctx, key, now.UTC().Format(time.RFC3339))
}

// HasBegun reports whether the deployment has applied anything at the deploy target of the request, or was about to.
func HasBegun(ctx context.Context, req *Request) (bool, error) {
	_, found, err := req.Client.PluginMetadata(ctx, beganKey(&req.Target.App))
	return found, err
}

// began is when the deployment began to change the cluster. One that never noted it has changed nothing, or was begun
// by another plugin: then it is when the deployment was created.
func began(ctx context.Context, req *Request) (time.Time, error) {
	value, found, err := req.Client.PluginMetadata(ctx, beganKey(&req.Target.App))
	if err != nil {
		return time.Time{}, err
	}
	if at, err := time.Parse(time.RFC3339, value); found && err == nil {
		return at, nil
	}
	return time.Unix(req.Deployment.GetCreatedAt(), 0), nil
}
