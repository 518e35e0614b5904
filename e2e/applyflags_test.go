// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFlagsAreAppliedToAnEnvironmentWithAClusterWhileAStageWaits(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{
		"web/app.pipecd.yaml": application("web", "  planner: {alwaysUsePipeline: true}\n  pipeline:\n    stages:\n"+
			"      - name: K8S_PRIMARY_ROLLOUT\n      - name: WAIT_APPROVAL\n"),
		"web/deployment.yaml": strings.ReplaceAll(deployment("web"), "pipedeck.dev/", "registry.example/"),
	})
	limits := filepath.Join(t.TempDir(), "wait.yaml")
	require.NoError(t, os.WriteFile(limits, []byte("limits: {memory: 300Mi}\n"), 0o600))
	up := e.start("up", repo)
	up.await("the approval", waits("web"))
	before := e.list("deployments")

	r := e.pipedeck("up", "--live", "--plugin-config", "wait="+limits, "--output", "plain")
	require.Equal(t, 2, r.Code, r.Stderr)
	require.Regexp(t, `--live +false +true`, r.Stderr)
	require.Regexp(t, `--plugin-config +- +wait=`+limits, r.Stderr)
	require.Contains(t, r.Stderr, "which keeps its clusters, history and keys: pipedeck up")
	r = e.pipedeck("up", "--apply", "--local-pods=false", "--output", "plain")
	require.Equal(t, 2, r.Code, "the cluster would be another one")
	require.Regexp(t, `--local-pods +true +false`, r.Stderr)
	r = e.pipedeck("up", "--apply", "--plugin", "wait=/nowhere", "--output", "plain")
	require.Equal(t, 2, r.Code, r.Stderr)
	require.NotEmpty(t, e.list("plugins"), "what would not start is refused while the environment still runs")

	again := e.start("up", "--apply", "--live", "--plugin-config", "wait="+limits)
	_, code := up.wait()
	require.Zero(t, code, "the process before has ended in order")
	again.await("the cluster", func(ev event) bool {
		return ev.is("component", "name", "kubernetes", "state", "READY")
	})
	again.await("the approval", waits("web"))
	after := e.list("deployments")
	require.Len(t, after, 1, "nothing was deployed again")
	require.Equal(t, before[0]["id"], after[0]["id"])
	config, err := os.ReadFile(e.Dir("piped.yaml"))
	require.NoError(t, err)
	require.Contains(t, string(config), "300Mi")
	r = e.pipedeck("approve", "web")
	require.Zero(t, r.Code, r.Stderr)
	again.await("the end", deployed("web", "SUCCESS"))
	apps := e.list("apps")
	require.Equal(t, "SYNCED", apps[0]["sync"], "the cluster has its objects")
}
