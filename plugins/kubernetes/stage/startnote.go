// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"time"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// beganKey is the plugin's metadata of a deployment that holds when it began to change a deploy target, by the clock of
// that cluster: the control plane's may differ, and what a deployment has created is recognised by its age.
func beganKey(app *config.Application) sdk.DeploymentKey[sdk.Text] {
	if target := app.DeployTarget(); target != "" {
		return sdk.DeploymentKey[sdk.Text]("began/" + target)
	}
	return "began"
}

// noteBegan notes when the deployment began, before its first change, and returns that.
func noteBegan(ctx context.Context, req *Request, c *cluster.Client) (time.Time, error) {
	key := beganKey(&req.Target.App)
	if _, found, err := key.Get(ctx, req.Client); err != nil {
		return time.Time{}, err
	} else if found {
		return began(ctx, req)
	}
	now, err := c.Now(ctx)
	if err != nil {
		return time.Time{}, err
	}
	return now, key.Put(ctx, req.Client, sdk.Text(now.UTC().Format(time.RFC3339)))
}

// HasBegun reports whether the deployment has applied anything at the deploy target of the request, or was about to.
func HasBegun(ctx context.Context, req *Request) (bool, error) {
	_, found, err := beganKey(&req.Target.App).Get(ctx, req.Client)
	return found, err
}

// began is when the deployment began to change the cluster. One that never noted it has changed nothing, or was begun
// by another plugin: then it is when the deployment was created.
func began(ctx context.Context, req *Request) (time.Time, error) {
	value, found, err := beganKey(&req.Target.App).Get(ctx, req.Client)
	if err != nil {
		return time.Time{}, err
	}
	if at, err := time.Parse(time.RFC3339, string(value)); found && err == nil {
		return at, nil
	}
	return req.Deployment.CreatedAt, nil
}
