// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package complete_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/buildtest"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// program is the path of pipedeck, which the shells run.
var program string

func TestMain(m *testing.M) { buildtest.Main(m, &program, "github.com/pipedeck/pipedeck/cmd/pipedeck") }

// running returns the directory of environments of which the one named default is served by server.
func running(t *testing.T, server *decktest.Server) (stateDir string) {
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
	return stateDir
}

// bin is the directory of the programs.
func bin() string { return filepath.Dir(program) }
