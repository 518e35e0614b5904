// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// chainOf begins a chain of two blocks: those with the label tier=web, then the one called last.
const chainOf = "  postSync:\n    chain:\n      applications:\n        - labels: {tier: web}\n        - name: last\n"

// inChain is an application that only chains deploy.
const inChain = "  trigger:\n    onCommit: {disabled: true}\n    onChain: {disabled: false}\n"

func chainRepository(t *testing.T, first, web string) string {
	t.Helper()
	return repository(t, map[string]string{
		"first/app.pipecd.yaml": application("first", chainOf+pipeline("SCRIPT_RUN", "run: "+first)),
		"web1/app.pipecd.yaml": application("web1",
			inChain+"  labels: {tier: web}\n"+pipeline("WAIT", "duration: "+web)),
		"web2/app.pipecd.yaml": application("web2",
			inChain+"  labels: {tier: web, zone: b}\n"+pipeline("WAIT", "duration: 1s")),
		"other/app.pipecd.yaml": application("other",
			inChain+"  labels: {tier: database}\n"+pipeline("WAIT", "duration: 1s")),
		"last/app.pipecd.yaml": application("last", inChain+pipeline("WAIT", "duration: 1s")),
	})
}

// chain lists the deployments by application; each has one at most.
func (e *environment) chain() map[string]map[string]any {
	e.t.Helper()
	found := map[string]map[string]any{}
	for _, d := range e.list("deployments") {
		name := d["app"].(string)
		require.NotContains(e.t, found, name)
		found[name] = d
	}
	return found
}

func stamp(t *testing.T, value any) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(value))
	require.NoError(t, err)
	return at
}

func TestAChainDeploysItsBlocksOneAfterAnother(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.start("up", chainRepository(t, "'true'", "1s"), "--cluster", "none")
	s.await("the chain ends", func(e event) bool { return e.is("deployment", "app", "last", "status", "SUCCESS") })
	found := e.chain()
	require.Len(t, found, 4, "and none of the application that no block names")
	began := func(name string) time.Time {
		return stamp(t, found[name]["stages"].([]any)[0].(map[string]any)["started_at"])
	}
	ended := func(name string) time.Time { return stamp(t, found[name]["completed_at"]) }
	for _, web := range []string{"web1", "web2"} {
		require.False(t, began(web).Before(ended("first")), web)
		require.False(t, began("last").Before(ended(web)), web)
		require.EqualValues(t, 1, found[web]["chain_block"])
	}
	require.EqualValues(t, 2, found["last"]["chain_block"])
	for name := range found {
		require.Equal(t, found["first"]["chain"], found[name]["chain"])
	}
	table := e.pipedeck("deployments")
	require.Contains(t, table.Stdout, "CHAIN")
}

func TestABlockThatFailsEndsItsChain(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.start("up", chainRepository(t, "'false'", "1s"), "--cluster", "none")
	for _, name := range []string{"web1", "web2", "last"} {
		s.await(name+" is cancelled", func(e event) bool {
			return e.is("deployment", "app", name, "status",
				"CANCELLED")
		})
	}
	found := e.chain()
	require.Contains(t, found["web1"]["reason"], "the block before it in the deployment chain failed")
	require.Contains(t, found["last"]["reason"], "the block before it in the deployment chain was cancelled")
}

func TestACancelledDeploymentEndsItsChain(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.start("up", chainRepository(t, "'true'", "10m"), "--cluster", "none")
	s.await("the block runs", func(e event) bool {
		return e.is("stage", "app", "web1", "name", "WAIT", "status",
			"RUNNING")
	})
	s.await("the other one of the block has ended",
		func(e event) bool { return e.is("deployment", "app", "web2", "status", "SUCCESS") })
	require.Zero(t, e.pipedeck("cancel", "web1", "--no-rollback").Code)
	s.await("what follows is cancelled", func(e event) bool {
		return e.is("deployment", "app", "last", "status",
			"CANCELLED")
	})
	require.Equal(t, "CANCELLED", e.chain()["web1"]["status"])
}
