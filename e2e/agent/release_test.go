// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/piped/failpoint/failpointtest"
)

const waitsForApproval = "      - {name: WAIT_APPROVAL}\n"

// superseding is the configuration of an application with these stages, whose newer commits end what waits.
func superseding(stages string) string {
	return "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: app\n" +
		"  trigger: {onNewCommit: supersede-waiting}\n  pipeline:\n    stages:\n" + stages
}

// TestANewerCommitContinuesWheneverPipedIsKilled supersedes a deployment that waits for an approval, and kills piped at
// each moment of that.
func TestANewerCommitContinuesWheneverPipedIsKilled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		points func(gate *failpointtest.Gate) string
		undo   func(gate *failpointtest.Gate) string
		kill   func(t *testing.T, e *environment, p *pipedProcess, gate *failpointtest.Gate, commit func())
	}{
		"never": {kill: func(_ *testing.T, _ *environment, _ *pipedProcess, _ *failpointtest.Gate, commit func()) {
			commit()
		}},
		"before the commit": {
			kill: func(t *testing.T, e *environment, p *pipedProcess, _ *failpointtest.Gate, commit func()) {
				require.NoError(t, p.Process.Kill())
				p.exit(t)
				commit()
				e.start(t)
			},
		},
		"before the end of the stage is reported": {
			// The first report is that of A.
			points: func(gate *failpointtest.Gate) string {
				return "stage-report=1*off->1*hold(" + gate.Path + ")->off"
			},
			kill: func(t *testing.T, e *environment, p *pipedProcess, gate *failpointtest.Gate, commit func()) {
				commit()
				gate.Await(t)
				kill9(t, e, p)
			},
		},
		"during the rollback": {
			undo: func(gate *failpointtest.Gate) string { return "undo: hold-once, undoFile: " + gate.Path },
			kill: func(t *testing.T, e *environment, p *pipedProcess, gate *failpointtest.Gate, commit func()) {
				commit()
				gate.Await(t)
				kill9(t, e, p)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gate, points, undo := failpointtest.NewGate(t), "", ""
			if c.points != nil {
				points = c.points(gate)
			}
			if c.undo != nil {
				undo = c.undo(gate)
			}
			e := newBundled(t, "")
			e.commit(t, "first", superseding("      - {name: A, with: {"+undo+"}}\n"+waitsForApproval))
			p := e.startWith(t, points)
			e.deck.awaitStage(t, 1, deckv1.StageStatus_STAGE_STATUS_RUNNING)
			c.kill(t, e, p, gate, func() { e.commit(t, "second", superseding("      - {name: B}\n")) })

			newer := e.deck.awaitEnd(t, 1)
			require.Equal(t, "second", newer.GetCommit().GetMessage())
			require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, newer.GetStatus(),
				newer.GetStatusReason())
			older := e.deck.awaitEnd(t, 0)
			require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_CANCELLED, older.GetStatus())
			require.Equal(t, fmt.Sprintf(
				"Superseded by deployment %.8s (commit %.7s) while executing stage WAIT_APPROVAL",
				newer.GetId(), newer.GetCommit().GetHash(),
			), older.GetStatusReason())
			require.Equal(t, newer.GetId(), older.GetSupersededBy())
			require.Contains(t, strings.Join(e.deck.historyOf(older), ", "), "ROLLBACK SUCCESS")
			require.Len(t, e.deck.of("app"), 2)
		})
	}
}

func TestCommitsThatQueueUpCollapseIntoTheNewest(t *testing.T) {
	t.Parallel()
	gate := failpointtest.NewGate(t)
	e := newBundled(t, "")
	e.commit(t, "first", superseding(fmt.Sprintf("      - {name: A, with: {do: hold, file: %q}}\n", gate.Path)))
	e.start(t)
	gate.Await(t)
	for i, message := range []string{"second", "third", "fourth"} {
		e.commit(t, message, superseding(fmt.Sprintf("      - {name: B, with: {log: %s}}\n", message)))
		e.deck.await(t, i+1, message, func(*deckv1.Deployment) bool { return true })
	}
	for i := range 2 {
		d := e.deck.awaitEnd(t, i+1)
		require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_CANCELLED, d.GetStatus())
		require.Regexp(t, `^Superseded by deployment \S+ \(commit \S+\) before it started$`, d.GetStatusReason())
		require.Empty(t, d.GetStages())
	}
	gate.Open()
	for _, i := range []int{0, 3} {
		require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, e.deck.awaitEnd(t, i).GetStatus())
	}
}

func TestAFailureThatMayPassIsRetriedAlsoAfterAKill(t *testing.T) {
	t.Parallel()
	there := filepath.Join(t.TempDir(), "there")
	e := newEnvironment(t, strings.Replace(
		pipeline(fmt.Sprintf("{do: need, file: %q, cause: TEMPORARY}", there)), "  pipeline:",
		"  trigger: {retry: {limit: 3, backoff: 3s}}\n  pipeline:", 1,
	))
	p := e.start(t)
	first := e.deck.awaitEnd(t, 0)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, first.GetStatus())
	require.NoError(t, p.Process.Kill())
	p.exit(t)

	e.start(t)
	second := e.deck.awaitEnd(t, 1)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, second.GetStatus(), second.GetStatusReason())
	require.Equal(t, []uint32{1, 3}, []uint32{second.GetRetry(), second.GetRetryLimit()})
	require.Equal(t, fmt.Sprintf("Retry 1 of 3 of deployment %.8s", first.GetId()), second.GetSummary())
	require.NoError(t, os.WriteFile(there, nil, 0o600))
	third := e.deck.awaitEnd(t, 2)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, third.GetStatus(), third.GetStatusReason())
	require.EqualValues(t, 2, third.GetRetry())
	require.Equal(t, first.GetId(), third.GetRetryOf())
	require.Equal(t, first.GetCommit().GetHash(), third.GetCommit().GetHash())
	require.GreaterOrEqual(t, third.GetCreatedAt().AsTime().Sub(second.GetCompletedAt().AsTime()),
		3*time.Second, "the pause doubles")
}

func TestACommitOfTheBranchIsDeployedByItsHash(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}"))
	e.start(t)
	first := e.deck.awaitEnd(t, 0)
	e.commit(t, "second", pipeline("{log: hello}"))
	newest := e.deck.awaitEnd(t, 1)
	sync := func(commit string) (string, error) {
		answer, err := e.user(t).SyncCommit(t.Context(), &deckv1.SyncCommitRequest{
			ApplicationId: first.GetApplicationId(), Commit: commit, Commander: "carol",
		})
		return answer.GetDeploymentId(), err
	}
	id, err := sync(first.GetCommit().GetHash()[:8])
	require.NoError(t, err)
	back := e.deck.awaitEnd(t, 2)
	require.Equal(t, id, back.GetId())
	require.Equal(t, "carol", back.GetCommander())
	require.Equal(t, first.GetCommit().GetHash(), back.GetCommit().GetHash())
	e.deck.awaitAll(t, "the sync state", func() bool {
		e.deck.mu.Lock()
		defer e.deck.mu.Unlock()
		a := e.deck.apps[first.GetApplicationId()]
		return a.GetSync() == deckv1.SyncStatus_SYNC_STATUS_OUT_OF_SYNC &&
			strings.Contains(a.GetSyncReason(), "the newest commit in Git is "+newest.GetCommit().GetHash()[:7])
	})
	_, err = sync("0123456789")
	require.ErrorContains(t, err, `"0123456789" is not in the history of branch main`)
	require.Len(t, e.deck.of("app"), 3)
}
