// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheHistoryOfAnotherRepositoryIsNotForgotten(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	script := map[string]string{"a/app.pipecd.yaml": application("a", pipeline("SCRIPT_RUN", "run: 'true'"))}
	repo := repository(t, script)
	other := repository(t, map[string]string{"other/app.pipecd.yaml": application("other",
		pipeline("SCRIPT_RUN", "run: 'true'"))})
	deployed := func(e event) bool { return e.is("deployment", "app", "a", "status", "SUCCESS") }
	first := e.start("up", repo, "--cluster", "none")
	first.await("it deploys", deployed)
	first.interrupt()
	_, code := first.wait()
	require.Equal(t, 130, code)

	refused := e.pipedeck("up", other, "--cluster", "none", "--output", "plain")
	require.Equal(t, 3, refused.Code)
	require.Contains(t, refused.Stderr, "holds the deployments of another repository: "+repo)
	require.Contains(t, refused.Stderr, "next step: choose another --name for "+other+
		"; or delete that environment with: pipedeck down")

	moved := repo + "-moved"
	require.NoError(t, os.Rename(repo, moved))
	refused = e.pipedeck("up", other, "--cluster", "none", "--output", "plain")
	require.Equal(t, 3, refused.Code, "other commits are no moved repository")
	again := e.start("up", moved, "--cluster", "none")
	again.await("piped is connected",
		func(e event) bool { return e.is("component", "name", "piped", "state", "READY") })
	again.await("the old deployment is there", deployed)
	require.Len(t, e.list("deployments"), 1, "nothing is deployed again")
}
