// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func port(listener net.Listener) int { return listener.Addr().(*net.TCPAddr).Port }

func TestThePortStaysTheSameWhileItIsFree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := listen(dir, 0)
	require.NoError(t, err)
	taken, err := listen(dir, 0)
	require.NoError(t, err, "a port that is taken is replaced")
	require.NotEqual(t, port(first), port(taken))
	require.NoError(t, first.Close())
	require.NoError(t, taken.Close())

	again, err := listen(dir, 0)
	require.NoError(t, err)
	defer again.Close()
	require.Equal(t, port(taken), port(again))
}

func TestAPortAskedForIsTakenOrRefused(t *testing.T) {
	t.Parallel()
	other, err := listen(t.TempDir(), 0)
	require.NoError(t, err)
	defer other.Close()
	_, err = listen(t.TempDir(), port(other))
	require.ErrorContains(t, err, "--secure-port 0")
}

func TestASpoiltPortFileIsNoObstacle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "port"), []byte("not a port"), 0o600))
	listener, err := listen(dir, 0)
	require.NoError(t, err)
	require.NoError(t, listener.Close())
}

func TestTheDataDirectoryHasOneOwnerAtATime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	release, err := lock(dir)
	require.NoError(t, err)
	_, err = lock(dir)
	require.ErrorIs(t, err, ErrInUse)
	release()
	release, err = lock(dir)
	require.NoError(t, err)
	release()
}
