// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// running returns the directory of environments of which the one named default is served by server.
func running(t *testing.T, server *decktest.Server) (stateDir string, w *workspace.Workspace) {
	t.Helper()
	stateDir = t.TempDir()
	w, err := workspace.At(stateDir, "default")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	_, err = w.Keys().EnsureSecrets()
	require.NoError(t, err)
	lock, err := w.Acquire()
	require.NoError(t, err)
	t.Cleanup(func() { _ = lock.Release() })
	require.NoError(t, w.Publish(workspace.Running{PID: 1, Address: server.Address()}))
	return stateDir, w
}

func TestFollowingALogEndsWithTheEnvironment(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"of a stage":                      {"logs", "hello-world", "-f"},
		"of a stage that was interrupted": {"logs", "hello-world", "--stage", "s1", "-f"},
		"of a plugin":                     {"logs", "--plugin", "wait", "-f"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := decktest.Start(t)
			d := decktest.Canary()
			d.Stages[0].Status = deckv1.StageStatus_STAGE_STATUS_RUNNING
			server.Publish(decktest.Environment(), decktest.Application(), d)
			server.Log("s1", deckv1.Severity_SEVERITY_INFO, "so far")
			if name == "of a stage that was interrupted" {
				server.CompleteLog("s1")
			}
			stateDir, w := running(t, server)
			require.NoError(t, os.WriteFile(filepath.Join(w.PluginLogsDir(), "wait.log"), []byte("so far\n"), 0o600))
			server.End()
			code, stdout, stderr := command(t.Context(), stateDir, args...)
			require.Equal(t, exit.NotStarted, code, stderr)
			require.Contains(t, stdout, "so far\n")
			require.Contains(t, stderr, "pipedeck: environment \"default\" has ended\nnext step: start it with: "+
				"pipedeck up")
		})
	}
}

func TestTheLogOfAPluginGrowsOnlyWhileItsEnvironmentRuns(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	w, err := workspace.At(stateDir, "default")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	require.NoError(t, os.WriteFile(filepath.Join(w.PluginLogsDir(), "wait.log"), []byte("before\n"), 0o600))
	code, stdout, stderr := command(t.Context(), stateDir, "logs", "--plugin", "wait", "-f")
	require.Equal(t, exit.NotStarted, code, stderr)
	require.Equal(t, "before\n", stdout)
	require.Contains(t, stderr, `no environment "default" is running`)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	server := decktest.Start(t)
	server.Publish(decktest.Environment())
	stateDir, w = running(t, server)
	require.NoError(t, os.WriteFile(filepath.Join(w.PluginLogsDir(), "wait.log"), []byte("before\n"), 0o600))
	code, _, _ = command(ctx, stateDir, "logs", "--plugin", "wait", "-f")
	require.Equal(t, exit.Interrupted, code)
}

func TestFollowingALogEndsWithItsStage(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	d := decktest.Canary()
	d.Stages = d.Stages[:1]
	d.Stages[0].Status = deckv1.StageStatus_STAGE_STATUS_RUNNING
	server.CompleteLog("s1")
	later := proto.CloneOf(d)
	later.Stages[0].Status = deckv1.StageStatus_STAGE_STATUS_SUCCESS
	server.Publish(decktest.Application(), later)
	var out, said bytes.Buffer
	require.NoError(t,
		(&logPrinter{deck: server.Dial(t), follow: true, out: &out, err: &said}).print(t.Context(), d))
	require.Empty(t, said.String())
}

func TestFollowingALogGoesOnWhenItsStageRunsAgain(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]func(*decktest.Server, *deckv1.Stage){
		"and ends later": func(*decktest.Server, *deckv1.Stage) {},
		"and has ended": func(server *decktest.Server, stage *deckv1.Stage) {
			stage.Status = deckv1.StageStatus_STAGE_STATUS_SUCCESS
			server.CompleteLog("s1")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := decktest.Start(t)
			d := decktest.Canary()
			d.Stages = d.Stages[:1]
			d.Stages[0].Status = deckv1.StageStatus_STAGE_STATUS_RUNNING
			server.Publish(decktest.Application(), d)
			server.Log("s1", deckv1.Severity_SEVERITY_INFO, "one", "two")
			server.CompleteLog("s1") // its plugin was killed
			read, write := io.Pipe()
			var said bytes.Buffer
			ended := make(chan error, 1)
			go func() {
				p := &logPrinter{deck: server.Dial(t), follow: true, out: write, err: &said}
				ended <- p.print(t.Context(), proto.CloneOf(d))
				_ = write.Close()
			}()
			lines := bufio.NewScanner(read)
			awaitLine := func(words string) {
				t.Helper()
				require.True(t, lines.Scan(), "the log ends before: "+words)
				require.Contains(t, lines.Text(), words)
			}
			awaitLine("==> hello-world")
			awaitLine("one")
			awaitLine("two")
			again := proto.CloneOf(d)
			again.Stages[0].Retries = 1
			server.ReopenLog("s1")
			server.Log("s1", deckv1.Severity_SEVERITY_INFO, "three")
			more(server, again.Stages[0])
			server.Publish(again)
			awaitLine("three")
			server.CompleteLog("s1")
			over := proto.CloneOf(again)
			over.Stages[0].Status = deckv1.StageStatus_STAGE_STATUS_SUCCESS
			server.Publish(over)
			require.False(t, lines.Scan(), lines.Text())
			require.NoError(t, <-ended)
			require.Equal(t, "K8S_CANARY_ROLLOUT is run again: attempt 2\n", said.String())
		})
	}
}
