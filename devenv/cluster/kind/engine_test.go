// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/engine"
	"github.com/pipedeck/pipedeck/devenv/cluster/kind/record"
)

// place returns a provider with its own directory.
func place(t *testing.T) *Provider {
	t.Helper()
	root := t.TempDir()
	return New(Config{
		Environment: "test", Cluster: "local", Dir: filepath.Join(root, "cluster"),
		Kubeconfig: filepath.Join(root, "kubeconfig"),
		LogFile:    filepath.Join(root, "log"), NodeImage: "node:v1", Logger: slog.New(slog.DiscardHandler),
	})
}

func silent(string, int64, int64) {}

func TestWithoutAnEngineNothingIsCreatedAndTheNextStepIsShown(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv(engine.Variable, "")
	p := place(t)
	err := p.Run(t.Context(), silent, func(string) {})
	var hint *cluster.HintError
	require.ErrorAs(t, err, &hint)
	require.ErrorIs(t, err, engine.ErrNone)
	require.Contains(t, hint.Hint, "--cluster embedded")
	require.NoDirExists(t, p.Dir)
}

func TestWithoutItsEngineARecordedClusterKeepsItsRecord(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	p := place(t)
	require.NoError(t, (&record.Record{State: record.StateReady, Cluster: p.name, Engine: "podman"}).Write(p.Dir))
	err := p.Delete(t.Context())
	var hint *cluster.HintError
	require.ErrorAs(t, err, &hint)
	require.Contains(t, hint.Hint, "pipedeck down")
	require.True(t, record.Recorded(p.Dir))
	require.Error(t, p.Run(t.Context(), silent, func(string) {}))
	require.True(t, record.Recorded(p.Dir))
}

func TestACommandEndsWithItsContextAndWithAllThatItStarted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	fifo := filepath.Join(t.TempDir(), "began")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	began := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(fifo)
		cancel(errors.New("enough"))
		began <- err
	}()
	_, err := (&engineCommand{"sh"}).runLong(ctx, "-c", "sh -c 'echo >"+fifo+"; exec tail -f /dev/null' & wait")
	require.NoError(t, <-began)
	require.ErrorContains(t, err, "enough")
}

func TestAFailedCommandIsReportedWithItsLastOutput(t *testing.T) {
	t.Parallel()
	_, err := (&engineCommand{"sh"}).run(t.Context(), "-c", "echo first >&2; echo last >&2; exit 3")
	require.EqualError(t, err, "first\nlast")
	_, err = (&engineCommand{"sh"}).run(t.Context(), "-c", "exit 3")
	require.EqualError(t, err, "sh -c exit 3: exit status 3")
}

func TestAnUnreadableKubeconfigOfTheUserIsFoundBeforeAnythingIsMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(file, []byte("{"), 0o600))
	t.Setenv("KUBECONFIG", file)
	p := place(t)
	p.Export = true
	err := p.Run(t.Context(), silent, func(string) {})
	var hint *cluster.HintError
	require.ErrorAs(t, err, &hint)
	require.ErrorContains(t, err, file)
	require.NoDirExists(t, p.Dir)
}

func TestADamagedRecordStaysForItsUser(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "kind.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"state":`), 0o600))
	require.ErrorContains(t, New(Config{Dir: dir, Kubeconfig: filepath.Join(dir, "kubeconfig")}).Delete(t.Context()),
		"is damaged")
	require.FileExists(t, file)
}
