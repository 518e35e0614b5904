// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/piped/failpoint/failpointtest"
)

// member is an application that takes part in chains, or refuses them.
func member(name, labels string, refuses bool) string {
	return fmt.Sprintf("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: %s\n  labels: {%s}\n"+
		"  trigger: {onChain: {disabled: %t}}\n  pipeline: {stages: [{name: A}]}\n", name, labels, refuses)
}

// leader starts a chain: itself, those labelled tier=web, then the application "last".
func leader(with string) string {
	return pipeline(with) + "  postSync: {chain: {applications: [{labels: {tier: web}}, {name: last}]}}\n"
}

// startChain deploys everything once, then the leader with its chain, whose stage is held at the gate. It
// returns when all members wait for it.
func startChain(t *testing.T, gate *failpointtest.Gate, then string, refuses bool) (*environment, *pipedProcess) {
	t.Helper()
	e := newEnvironment(t, pipeline("{}"))
	e.commitAll(t, "members", map[string]string{
		"web1": member("web1", "tier: web", false), "web2": member("web2", "tier: web, more: yes", false),
		"db": member("db", "tier: db", false), "last": member("last", "", refuses),
	})
	p := e.start(t)
	names := []string{"app", "web1", "web2", "db", "last"}
	e.deck.awaitAll(t, "the first deployments", func() bool { return e.ended(1, names...) })
	e.commit(t, "chain", leader(fmt.Sprintf("{do: hold-once, file: %q, then: %q}", gate.Path, then)))
	gate.Await(t)
	e.deck.awaitAll(t, "the members", func() bool {
		return len(e.deck.of("web1")) == 2 && len(e.deck.of("web2")) == 2 && (refuses || len(e.deck.of("last")) == 2)
	})
	for _, name := range []string{"web1", "web2"} {
		require.Equal(
			t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PENDING, e.deck.of(name)[1].GetStatus(),
			"%s waits for its block", name,
		)
	}
	return e, p
}

// ended reports whether each application has so many deployments and the last of them has ended.
func (e *environment) ended(count int, names ...string) bool {
	for _, name := range names {
		list := e.deck.of(name)
		if len(list) != count || list[count-1].GetCompletedAt() == nil {
			return false
		}
	}
	return true
}

func TestAChainDeploysItsBlocksInOrder(t *testing.T) {
	t.Parallel()
	gate := failpointtest.NewGate(t)
	e, _ := startChain(t, gate, "", false)
	gate.Open()
	e.deck.awaitAll(t, "the chain", func() bool { return e.ended(2, "app", "web1", "web2", "last") })
	end := func(name string) *deckv1.Deployment { return e.deck.of(name)[1] }
	for _, name := range []string{"web1", "web2"} {
		require.Equal(
			t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, end(name).GetStatus(), end(name).GetStatusReason(),
		)
		require.True(t, end(name).GetStages()[0].GetStartedAt().AsTime().After(end("app").GetCompletedAt().AsTime()))
		require.True(t, end("last").GetStages()[0].GetStartedAt().AsTime().After(end(name).GetCompletedAt().AsTime()))
	}
	require.Len(t, e.deck.of("db"), 1, "labels count")
}

func TestAChainOutlastsTheAgent(t *testing.T) {
	t.Parallel()
	gate := failpointtest.NewGate(t)
	e, p := startChain(t, gate, "", false)
	kill9(t, e, p)
	e.deck.awaitAll(t, "the chain", func() bool { return e.ended(2, "app", "web1", "web2", "last") })
	for _, name := range []string{"app", "web1", "web2", "last"} {
		end := e.deck.of(name)[1]
		require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, end.GetStatus(), end.GetStatusReason())
	}
}

func TestAFailureCancelsTheRestOfTheChain(t *testing.T) {
	t.Parallel()
	gate := failpointtest.NewGate(t)
	e, _ := startChain(t, gate, "error", false)
	gate.Open()
	e.deck.awaitAll(t, "the chain", func() bool { return e.ended(2, "app", "web1", "web2", "last") })
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, e.deck.of("app")[1].GetStatus())
	for _, name := range []string{"web1", "web2", "last"} {
		require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_CANCELLED, e.deck.of(name)[1].GetStatus(), name)
		require.Contains(t, e.deck.of(name)[1].GetStatusReason(), "the block before it in the deployment chain")
		require.Empty(t, e.deck.of(name)[1].GetStages(), "nothing was planned")
	}
}

func TestACancelledMemberCancelsThoseAfterIt(t *testing.T) {
	t.Parallel()
	gate := failpointtest.NewGate(t)
	e, _ := startChain(t, gate, "", false)
	user := e.user(t)
	_, err := user.CancelDeployment(
		t.Context(), &deckv1.CancelDeploymentRequest{DeploymentId: e.deck.of("web1")[1].GetId()},
	)
	require.NoError(t, err)
	e.deck.awaitAll(t, "the others", func() bool { return e.ended(2, "web1", "web2", "last") })
	require.True(
		t, strings.HasPrefix(e.deck.of("web1")[1].GetStatusReason(), "Cancelled by "),
		e.deck.of("web1")[1].GetStatusReason(),
	)
	for _, name := range []string{"web2", "last"} {
		require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_CANCELLED, e.deck.of(name)[1].GetStatus(), name)
	}
	gate.Open()
	e.deck.awaitAll(t, "the leader", func() bool { return e.ended(2, "app") })
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, e.deck.of("app")[1].GetStatus())
}

func TestAMemberThatRefusesChainsDelaysNoMemberBeforeIt(t *testing.T) {
	t.Parallel()
	gate := failpointtest.NewGate(t)
	e, _ := startChain(t, gate, "", true)
	gate.Open()
	e.deck.awaitAll(t, "the chain", func() bool { return e.ended(2, "app", "web1", "web2") })
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, e.deck.of("web1")[1].GetStatus())
	require.Len(t, e.deck.of("last"), 1)
}
