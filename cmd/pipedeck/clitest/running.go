// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// Running returns the directory of environments of which the one named default runs, for commands: its control plane is
// at an address.
func Running(t testing.TB, address string) (stateDir string) {
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
	require.NoError(t, w.Publish(workspace.Running{PID: 1, Address: address}))
	return stateDir
}
