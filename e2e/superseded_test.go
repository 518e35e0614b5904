// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// impatient is a canary that waits for an approval until a newer commit arrives.
const impatient = `  trigger:
    onNewCommit: supersede-waiting
  pipeline:
    stages:
      - name: K8S_CANARY_ROLLOUT
        with: {replicas: 1}
      - name: WAIT_APPROVAL
      - name: K8S_PRIMARY_ROLLOUT
      - name: K8S_CANARY_CLEAN
`

func TestTheCanaryOfADeploymentThatWaitsEndsWithTheNextCommit(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	dir := repository(t, map[string]string{
		"web/app.pipecd.yaml": application("web", impatient), "web/deployment.yaml": simulated("web"),
	})
	s := e.start("up", dir)
	s.await("web is healthy", func(e event) bool {
		return e.is("application", "name", "web", "sync", "SYNCED", "health", "HEALTHY")
	})
	objects := func() string { return e.pipedeck("tree", "web", "-o", "json").Stdout }
	commit := func(version int) string {
		return replaceAndCommit(t, dir, fmt.Sprintf("example.com/web:v%d", version-1),
			fmt.Sprintf("example.com/web:v%d", version), "web/deployment.yaml")
	}
	waiting := func(commit string) {
		var id string
		waitUntil(t, "a deployment of "+commit, func() bool {
			newest := e.list("deployments")[0]
			id = newest["id"].(string)
			return strings.HasPrefix(newest["commit"].(string), commit[:7])
		})
		s.await("it waits", func(e event) bool {
			return e.is("stage", "deployment", id, "name", "WAIT_APPROVAL", "status", "RUNNING")
		})
	}
	waiting(commit(2))
	waitUntil(t, "the canary to be shown", func() bool { return strings.Contains(objects(), "web-canary") })

	commit(3)
	waiting(commit(4))
	all := e.list("deployments")
	require.GreaterOrEqual(t, len(all), 3)
	for _, d := range all[1 : len(all)-1] { // the second, and the third if it was created before the fourth
		require.Equal(t, "CANCELLED", d["status"])
		require.NotEmpty(t, d["superseded_by"])
		require.Contains(t, d["reason"], "Superseded by deployment ")
	}

	require.Zero(t, e.pipedeck("approve", "web").Code)
	waitUntil(t, "web to be deployed", func() bool { return e.list("deployments")[0]["status"] == "SUCCESS" })
	waitUntil(t, "the canary to be gone", func() bool { return !strings.Contains(objects(), "web-canary") })
}
