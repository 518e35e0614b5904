// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/piped/failpoint/failpointtest"
)

func TestADeploymentRunsToItsEndWhileTheControlPlaneIsAway(t *testing.T) {
	t.Parallel()
	const lines = 1000
	gate := failpointtest.NewGate(t)
	e := newBundled(t, "")
	e.commit(t, "three stages", fmt.Sprintf(`apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: app
  pipeline:
    stages:
      - {name: SCRIPT_RUN, with: {run: "cat %s; cat %s; echo; seq 1 %d"}}
      - {name: WAIT, with: {duration: 1ms}}
      - {name: SCRIPT_RUN, with: {run: "seq 1 %d"}}
`, gate.Path, filepath.Join(e.dir, "key"), lines, lines))
	f := newFront(t, e)
	p := e.start(t)
	gate.Await(t)
	f.kill()
	gate.Open()
	p.awaitOutput(t, "deployment ended")
	d := e.deck.awaitStage(t, 0, deckv1.StageStatus_STAGE_STATUS_RUNNING)
	require.Equal(t, deckv1.StageStatus_STAGE_STATUS_NOT_STARTED, d.GetStages()[2].GetStatus(), "not known yet")
	kept := e.kept(t)
	require.NotEmpty(t, kept)
	for _, file := range kept {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NotContains(t, string(text), pipedKey, "secrets are masked before they come to the disk")
	}

	f.back(t)
	d = e.deck.awaitEnd(t, 0)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, d.GetStatus(), d.GetStatusReason())
	require.Equal(t, "SCRIPT_RUN RUNNING 0, SCRIPT_RUN SUCCESS 0, WAIT RUNNING 0, WAIT SUCCESS 0, SCRIPT_RUN RUNNING "+
		"0, SCRIPT_RUN SUCCESS 0",
		strings.Join(e.deck.historyOf(d), ", "))
	for _, stage := range []int{0, 2} {
		log := e.logLines(t, d, stage)
		require.True(
			t, slices.Equal(count(lines), numbers(log)),
			"the log of stage %d is not whole or not in order: %d lines, first %.5q", stage, len(log), log,
		)
	}

	e.commit(t, "next", pipeline("{}"))
	next := e.deck.awaitEnd(t, 1)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, next.GetStatus(), next.GetStatusReason())
	require.Empty(t, e.kept(t))
}

func TestWhatIsKeptForTheControlPlaneOutlastsTheAgent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, b string
		// at waits until the agent is to be killed.
		at   func(*testing.T, *pipedProcess, *failpointtest.Gate)
		want fate
	}{
		{
			"killed in the second stage", "hold-once",
			func(t *testing.T, _ *pipedProcess, second *failpointtest.Gate) { second.Await(t) },
			fate{"A RUNNING 0, A SUCCESS 0, B RUNNING 0, B RUNNING 1, B SUCCESS 1", "A 0, B 0, B 1"},
		},
		{
			"killed after the end", "",
			func(t *testing.T, p *pipedProcess, _ *failpointtest.Gate) { p.awaitOutput(t, "deployment ended") },
			once,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			calls := filepath.Join(t.TempDir(), "calls")
			first, second := failpointtest.NewGate(t), failpointtest.NewGate(t)
			e := newEnvironment(t, pipeline(
				fmt.Sprintf("{calls: %q, do: hold-once, file: %q}", calls, first.Path),
				fmt.Sprintf("{calls: %q, do: %q, file: %q}", calls, c.b, second.Path)))
			f := newFront(t, e)
			p := e.start(t)
			first.Await(t)
			e.deck.awaitPlugin(t, "the plugin", func(p *deckv1.Plugin) bool { return p.GetPid() > 0 })
			plugin := e.deck.pluginPID()
			f.kill()
			first.Open()
			c.at(t, p, second)
			require.NotEmpty(t, e.kept(t))
			require.NoError(t, p.Process.Kill())
			p.exit(t)
			require.Eventually(
				t, func() bool { return syscall.Kill(plugin, 0) == syscall.ESRCH }, wait, time.Millisecond,
				"the plugin ends with piped",
			)
			require.NotEmpty(t, e.kept(t))
			e.start(t)
			f.back(t)
			d := e.deck.awaitEnd(t, 0)
			require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, d.GetStatus(), d.GetStatusReason())
			require.Equal(t, c.want.history, strings.Join(e.deck.historyOf(d), ", "))
			got, err := os.ReadFile(calls)
			require.NoError(t, err)
			require.Equal(t, c.want.calls, strings.Join(strings.Split(strings.TrimSpace(string(got)), "\n"), ", "))
			require.Eventually(t, func() bool { return len(e.kept(t)) == 0 }, wait, time.Millisecond)
		})
	}
}

// kept are the files with reports that wait.
func (e *environment) kept(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(e.dir, "work", "spool", "*", "*.report"))
	require.NoError(t, err)
	return files
}

func (p *pipedProcess) awaitOutput(t *testing.T, text string) {
	t.Helper()
	require.Eventually(
		t, func() bool { return strings.Contains(p.output.String(), text) }, wait, time.Millisecond, "output with %q",
		text,
	)
}

// logLines is the whole log of a stage that has ended.
func (e *environment) logLines(t *testing.T, d *deckv1.Deployment, stage int) []string {
	t.Helper()
	stream, err := e.user(t).WatchStageLog(
		t.Context(), &deckv1.WatchStageLogRequest{DeploymentId: d.GetId(), StageId: d.GetStages()[stage].GetId()},
	)
	require.NoError(t, err)
	var lines []string
	for {
		answer, err := stream.Recv()
		require.NoError(t, err)
		for _, block := range answer.GetBlocks() {
			lines = append(lines, strings.Split(block.GetText(), "\n")...)
		}
		if answer.GetCompleted() {
			return lines
		}
	}
}

// numbers are the lines that are one.
func numbers(lines []string) []int {
	var list []int
	for _, line := range lines {
		if n, err := strconv.Atoi(line); err == nil {
			list = append(list, n)
		}
	}
	return list
}

func count(to int) []int {
	list := make([]int, to)
	for i := range list {
		list[i] = i + 1
	}
	return list
}
