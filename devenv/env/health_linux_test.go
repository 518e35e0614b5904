// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/workspace"
)

func TestAFullDiskOfTheEnvironmentIsAProblemUntilItIsFree(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=100m")
	if errors.Is(err, syscall.EPERM) {
		t.Skip("mounting a small disk is not permitted here")
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(disk, syscall.MNT_DETACH)) })
	w, err := workspace.At(filepath.Join(disk, "state"), "test")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	require.NoError(t, os.Mkdir(w.Path("piped", "tmp"), 0o700))
	require.NoError(t, os.WriteFile(w.Path("piped", "tmp", "plan"), []byte("run"), 0o600))
	h := watchHealth(t, deck(t, w, up(t, options(w)).address))
	pids(t, w, 1) // piped runs, so the environment has written all that it needs for a start

	ballast := filepath.Join(disk, "ballast")
	file, err := os.Create(ballast)
	require.NoError(t, err)
	defer file.Close()
	for err == nil {
		_, err = file.Write(make([]byte, 64<<10))
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	problem := h.untilProblem(t, partDisk, "is full")
	require.Contains(t, problem.GetNextStep(), "free space")
	require.NoError(t, os.Remove(ballast))
	require.NoError(t, file.Close())
	h.until(t, "free space", func() bool {
		for _, p := range h.problems {
			if p.GetPart() == partDisk {
				return false
			}
		}
		return true
	})
}
