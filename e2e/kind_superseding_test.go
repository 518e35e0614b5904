// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && kind

package e2e

import (
	"github.com/stretchr/testify/require"
)

// supersedingStory has a second commit wait for an approval when a third one arrives.
func supersedingStory() kindStory {
	files := kindApplication("news", "  trigger: {onNewCommit: supersede-waiting}\n"+`  pipeline:
    stages:
      - {name: K8S_CANARY_ROLLOUT, with: {replicas: 1}}
      - {name: WAIT_APPROVAL, with: {minApproverNum: 1}}
      - {name: K8S_PRIMARY_ROLLOUT}
      - {name: K8S_CANARY_CLEAN}
`)
	return kindStory{files, func(c *tenant) {
		c.await("version one is deployed", deployed("news", "SUCCESS"))
		url := c.open("news")
		second := c.replace("news/deployment.yaml", "value: v1", "value: v2")
		c.await("version two waits for an approval", waits("news"))
		old := c.object(kindDeployments, "news-canary").GetUID()
		c.seeing(url, "v1", "v2")

		third := c.replace("news/deployment.yaml", "value: v2", "value: v3")
		superseded := c.await("version two is superseded", deployed("news", "CANCELLED", "commit", second))
		newest := c.await("version three is deployed now", deployed("news", "RUNNING", "commit", third))
		require.Equal(c.t, newest["id"], superseded["superseded_by"])
		require.Contains(c.t, superseded["reason"], "(commit "+third[:7]+")")
		c.await("the canary of version two is removed", saysOf(superseded, "Removed the canary variant: 1 "))
		waiting := c.await("version three waits for an approval", func(e event) bool {
			return waits("news")(e) && e["deployment"] == newest["id"]
		})
		require.NotEqual(c.t, old, c.object(kindDeployments, "news-canary").GetUID(), "it is another canary")
		c.seeing(url, "v1", "v3")

		require.Zero(c.t, c.pipedeck("approve", waiting["id"].(string)).Code)
		c.await("version three is everywhere", deployed("news", "SUCCESS", "commit", third))
		require.Nil(c.t, c.object(kindDeployments, "news-canary"))
		c.seeing(url, "v3")
		for _, d := range c.list("deployments") {
			if d["id"] == superseded["id"] {
				require.Equal(c.t, "CANCELLED", d["status"], "the approval is for version three alone")
			}
		}
	}}
}
