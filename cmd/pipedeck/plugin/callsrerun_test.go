// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/document"
)

// rerunOfWait is the stage of waited once more, apart from its deployment.
func rerunOfWait(t *testing.T, first int) []*deckv1.PluginCall {
	t.Helper()
	calls := waited(t, "Waited for 20ms")[1:]
	for i, c := range calls {
		c.Id, c.Rerun = fmt.Sprintf("3f2a-%d", first+i), true
	}
	return calls
}

// Each re-run begins without metadata: in one recording with others it is never replayed as it was recorded.
func TestARecordingHasOneRunOfAStageThatWasRerun(t *testing.T) {
	t.Parallel()
	calls := append(waited(t, "Waited for 20ms"), rerunOfWait(t, 20)...)
	stateDir := callsEnvironment(t, append(calls, rerunOfWait(t, 30)...)...)
	for id, ids := range map[string][2]string{ // of its first call and its last
		"3f2a-2": {"3f2a-2", "3f2a-10"}, "3f2a-21": {"3f2a-20", "3f2a-23"}, "3f2a-30": {"3f2a-30", "3f2a-33"},
	} {
		var chosen *deckv1.PluginCall
		all := append(append(waited(t, ""), rerunOfWait(t, 20)...), rerunOfWait(t, 30)...)
		for _, c := range all {
			if c.GetId() == id {
				chosen = c
			}
		}
		var kept []string
		for _, c := range sameRun(all, chosen) {
			if c.GetStageId() == chosen.GetStageId() {
				kept = append(kept, c.GetId())
			}
		}
		require.Len(t, kept, 4, id)
		require.Equal(t, ids, [2]string{kept[0], kept[3]}, id)

		file := filepath.Join(t.TempDir(), "calls.jsonl")
		code, _, stderr := command(t.Context(), stateDir, "plugin", "calls", id, "--as", "recording", "--file", file)
		require.Zero(t, code, stderr)
		require.Contains(t, stderr, "wrote 4 calls to "+file)
	}
	file := filepath.Join(t.TempDir(), "calls.jsonl")
	code, _, stderr := command(t.Context(), stateDir, "plugin", "record", "wait", "--file", file)
	require.Zero(t, code, stderr)
	code, stdout, stderr := command(t.Context(), stateDir, "plugin", "show", file, "-o", "json")
	require.Zero(t, code, stderr)
	var shown document.PluginCalls
	clitest.Document(t, "plugin-calls", stdout, &shown)
	require.Len(t, shown.Calls, 5, "without re-runs")
}

// A deployment that is cancelled before the stage begins has no calls of it.
func TestCallsOfAStageAreThoseOfTheNewestDeploymentThatBeganIt(t *testing.T) {
	t.Parallel()
	calls := waited(t, "Waited for 20ms")
	ran, cancelled := decktest.Canary(), decktest.Canary()
	ran.Id, ran.CompletedAt = calls[1].GetDeploymentId(), decktest.At(20)
	ran.Stages[0].Id, ran.Stages[0].ConfigId = calls[1].GetStageId(), "soak"
	cancelled.Id, cancelled.CreatedAt, cancelled.CompletedAt = "dep-2", decktest.At(30), decktest.At(40)
	cancelled.Stages[0].Id, cancelled.Stages[0].ConfigId, cancelled.Stages[0].StartedAt = "s-2", "soak", nil
	server := decktest.Start(t)
	server.Publish(decktest.Environment(), decktest.Application(), ran, cancelled,
		&deckv1.Plugin{Name: "wait", PipedId: "piped-1", State: deckv1.Plugin_STATE_RUNNING}, &deckv1.Synced{})
	server.PluginCall(calls...)
	file := filepath.Join(t.TempDir(), "calls.jsonl")
	code, _, stderr := command(t.Context(), clitest.Running(t, server.Address()),
		"plugin", "calls", "--stage", "soak", "--as", "recording", "--file", file)
	require.Zero(t, code, stderr)
	require.Contains(t, stderr, "wrote 4 calls to "+file)
}
