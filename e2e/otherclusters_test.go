// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheHistoryOfOneClusterIsNotTakenForThatOfAnother(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{"a/app.pipecd.yaml": application("a",
		pipeline("SCRIPT_RUN", "run: 'true'"))})
	ready := func(e event) bool { return e.is("component", "name", "piped", "state", "READY") }
	deployed := func(e event) bool { return e.is("deployment", "app", "a", "status", "SUCCESS") }
	up := func(until func(event) bool, cluster, dir string) {
		s := e.start("up", dir, "--cluster", cluster)
		s.await("the environment is as far", until)
		s.interrupt()
		_, code := s.wait()
		require.Equal(t, 130, code)
	}
	empty := repository(t, map[string]string{"README": "nothing to deploy"})
	up(ready, "first=none", empty)
	up(deployed, "one=none", repo) // nothing was deployed to the first

	for range 2 { // a refusal changes nothing
		refused := e.pipedeck("up", repo, "--cluster", "two=none", "--output", "plain")
		require.Equal(t, 2, refused.Code, refused.Stderr)
		require.Contains(t, refused.Stderr, `pipedeck: environment "story" was kept with other clusters: it has `+
			`one=none, not two=none`)
		require.Contains(t, refused.Stderr, "next step: start it as it was: pipedeck up --name story --state-dir "+
			e.StateDir+" --cluster=one=none")
		require.Contains(t, refused.Stderr, "or choose another --name; or remove it first, which deletes its clusters "+
			"and its history: pipedeck down --name story")
	}
	up(ready, "one=none", repo)
}
