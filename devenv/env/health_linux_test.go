// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/filetest"
)

func TestAFullDiskOfTheEnvironmentIsAProblemUntilItIsFree(t *testing.T) {
	t.Parallel()
	disk := filetest.SmallDisk(t, "100m")
	w, err := workspace.At(filepath.Join(disk, "state"), "test")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	require.NoError(t, os.Mkdir(w.Path("piped", "tmp"), 0o700))
	require.NoError(t, os.WriteFile(w.Path("piped", "tmp", "plan"), []byte("run"), 0o600))
	h := watchHealth(t, deck(t, w, up(t, options(w)).address))
	pids(t, w, 1) // piped runs, so the environment has written all that it needs for a start

	ballast := filetest.Fill(t, disk)
	problem := h.untilProblem(t, partDisk, "is full")
	require.Contains(t, problem.GetNextStep(), "free space")
	require.NoError(t, os.Remove(ballast))
	h.until(t, "free space", func() bool {
		for _, p := range h.problems {
			if p.GetPart() == partDisk {
				return false
			}
		}
		return true
	})
}
