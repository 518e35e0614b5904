// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && kind

package e2e

import (
	"encoding/json"
	"strings"

	"github.com/stretchr/testify/require"
)

// releasesStory returns from the third version to the first by its deployment, deploys the second by its commit, and
// returns to the newest.
func releasesStory() kindStory {
	return kindStory{kindApplication("shop", ""), func(c *tenant) {
		first := c.await("version one is deployed", deployed("shop", "SUCCESS"))
		url := c.open("shop")
		second := c.replace("shop/deployment.yaml", "value: v1", "value: v2")
		c.await("version two is deployed", deployed("shop", "SUCCESS", "commit", second))
		third := c.replace("shop/deployment.yaml", "value: v2", "value: v3")
		c.await("version three is deployed", deployed("shop", "SUCCESS", "commit", third))
		c.seeing(url, "v3")

		c.succeeds(c.asks("rollback", "shop", "--to", first["id"].(string)), first["commit"].(string))
		c.seeing(url, "v1")
		c.isAtRest("shop", "OUT_OF_SYNC", "Rolled back to "+first["commit"].(string)[:7])

		c.succeeds(c.asks("sync", "shop", "--commit", second[:10]), second)
		c.seeing(url, "v2")
		c.isAtRest("shop", "OUT_OF_SYNC", second[:7])

		c.succeeds(c.asks("sync", "shop"), "") // of the newest commit, which may be that of another story
		c.seeing(url, "v3")
		c.isAtRest("shop", "SYNCED", "")
	}}
}

// asks runs a command that creates a deployment and returns its id.
func (c *tenant) asks(args ...string) string {
	c.t.Helper()
	r := c.pipedeck(append(args, "-o", "json")...)
	require.Zero(c.t, r.Code, r.Stderr)
	var answer struct{ Deployment string }
	require.NoError(c.t, json.Unmarshal([]byte(r.Stdout), &answer), r.Stdout)
	require.NotEmpty(c.t, answer.Deployment, r.Stdout)
	return answer.Deployment
}

// succeeds waits for the success of a deployment, which is of a commit unless that is empty.
func (c *tenant) succeeds(deployment, commit string) {
	c.t.Helper()
	ended := c.await("deployment "+deployment+" succeeds", func(e event) bool {
		return e.is("deployment", "id", deployment, "status", "SUCCESS")
	})
	require.True(c.t, strings.HasPrefix(ended["commit"].(string), commit), ended)
}

// isAtRest waits until an application has a state and a reason.
func (c *tenant) isAtRest(app, sync, reason string) {
	c.t.Helper()
	waitUntil(c.t, app+" to be "+sync, func() bool {
		a := c.app(app)
		return a["sync"] == sync && strings.Contains(a["short_reason"].(string), reason)
	})
}
