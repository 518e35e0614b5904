// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// newBundled is an environment with the bundled plugins and one application with these stages.
func newBundled(t *testing.T, stages string) *environment {
	t.Helper()
	e := newEnvironment(
		t, "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: app\n  pipeline:\n    stages:\n"+stages,
	)
	text, err := os.ReadFile(e.config)
	require.NoError(t, err)
	lines := string(text)
	for _, name := range slices.Sorted(maps.Keys(bundled)) {
		config := ""
		if name == "wait" {
			config = ", config: {allowSkip: true}"
		}
		lines += fmt.Sprintf("    - {name: %s, url: \"file://%s\", port: 0%s}\n", name, bundled[name], config)
	}
	e.write(t, "piped.yaml", lines)
	return e
}

func TestApprovalsAreShownAsTheyComeAndOutlastPiped(t *testing.T) {
	t.Parallel()
	e := newBundled(t, "      - {name: WAIT_APPROVAL, with: {approvers: [alice, bob, carol], minApproverNum: 2}}\n")
	first := e.start(t)
	d := e.deck.awaitStage(t, 0, deckv1.StageStatus_STAGE_STATUS_RUNNING)
	require.True(t, d.GetStages()[0].GetCanApprove())
	user := e.user(t)
	approve := func(name string) {
		_, err := user.ApproveStage(
			t.Context(),
			&deckv1.ApproveStageRequest{DeploymentId: d.GetId(), StageId: d.GetStages()[0].GetId(), Commander: name},
		)
		require.NoError(t, err)
	}
	approve("alice")
	shows := func(text string) func(*deckv1.Deployment) bool {
		return func(d *deckv1.Deployment) bool { return d.GetStages()[0].GetDisplay() == text }
	}
	e.deck.await(t, 0, "the first approval", shows("1 of 2 approved: alice"))
	first.terminate(t)

	e.start(t)
	e.deck.await(
		t, 0, "the second attempt", func(d *deckv1.Deployment) bool { return d.GetStages()[0].GetRetries() == 1 },
	)
	approve("bob")
	d = e.deck.awaitEnd(t, 0)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, d.GetStatus(), d.GetStatusReason())
	require.Equal(t, "Approved by: alice, bob", d.GetStages()[0].GetDisplay())
	log := e.logUntil(t, d, "Approved by alice, bob")
	require.Contains(t, log, "the stage goes on as its next attempt")
	require.NotContains(t, log, "cancel", "the stage was not")
}

func TestASkippedStageLetsTheNextStart(t *testing.T) {
	t.Parallel()
	e := newBundled(t, "      - {name: WAIT, with: {duration: 1h}}\n      - {name: SCRIPT_RUN, with: {run: 'true'}}\n")
	e.start(t)
	d := e.deck.awaitStage(t, 0, deckv1.StageStatus_STAGE_STATUS_RUNNING)
	_, err := e.user(t).SkipStage(
		t.Context(),
		&deckv1.SkipStageRequest{DeploymentId: d.GetId(), StageId: d.GetStages()[0].GetId(), Commander: "carol"},
	)
	require.NoError(t, err)
	d = e.deck.awaitEnd(t, 0)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, d.GetStatus(), d.GetStatusReason())
	require.Equal(
		t, "WAIT RUNNING 0, WAIT SKIPPED 0, SCRIPT_RUN RUNNING 0, SCRIPT_RUN SUCCESS 0",
		strings.Join(e.deck.historyOf(d), ", "),
	)
}

// Each of the two scripts waits for the other: one after the other they would never end.
func TestScriptsSideBySideMeet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	left, right := filepath.Join(dir, "left"), filepath.Join(dir, "right")
	require.NoError(t, syscall.Mkfifo(left, 0o600))
	require.NoError(t, syscall.Mkfifo(right, 0o600))
	e := newBundled(t, fmt.Sprintf(`      - {id: left, name: SCRIPT_RUN, with: {run: "echo hi > %[1]s; cat %[2]s"}}
      - {id: right, needs: [], name: SCRIPT_RUN, with: {run: "cat %[1]s; echo hi > %[2]s"}}
      - {needs: [left, right], name: WAIT, with: {duration: 1ms}}
`, left, right))
	e.start(t)
	d := e.deck.awaitEnd(t, 0)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, d.GetStatus(), d.GetStatusReason())
	stages := d.GetStages()
	require.Empty(t, stages[1].GetRequires())
	require.Equal(t, []string{stages[0].GetId(), stages[1].GetId()}, stages[2].GetRequires())
}

// A PipeCD v1 stage that writes more than 4 MiB between two checkpoints loses all of its log.
func TestALongLogArrivesWhole(t *testing.T) {
	t.Parallel()
	const lines = 200_000
	e := newBundled(
		t,
		fmt.Sprintf(
			"      - {name: SCRIPT_RUN, with: {run: \"seq 1 %d | sed 's/$/ and some more text to the line/'\"}}\n",
			lines,
		),
	)
	e.start(t)
	d := e.deck.awaitEnd(t, 0)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, d.GetStatus(), d.GetStatusReason())
	stream, err := e.user(t).WatchStageLog(
		t.Context(), &deckv1.WatchStageLogRequest{DeploymentId: d.GetId(), StageId: d.GetStages()[0].GetId()},
	)
	require.NoError(t, err)
	next := 1
	for {
		answer, err := stream.Recv()
		require.NoError(t, err)
		require.False(t, answer.GetTruncated())
		for _, block := range answer.GetBlocks() {
			for line := range strings.SplitSeq(strings.TrimSuffix(block.GetText(), "\n"), "\n") {
				if line == fmt.Sprintf("%d and some more text to the line", next) {
					next++
				}
			}
		}
		if answer.GetCompleted() {
			break
		}
	}
	require.Equal(t, lines+1, next, "lines in their order")
}
