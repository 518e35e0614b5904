// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// kept writes a history with the samples, and returns its path after the process has been killed.
func kept(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state")
	j, m, p := openFile(path)
	require.Empty(t, p.now, "a new environment has lost nothing")
	kill := running(t, j)
	keep(t, j, m, samples()...)
	kill()
	return path
}

func TestAHistoryThatIsGoneIsReportedUntilUsersAcceptTheLoss(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(t *testing.T, path string){
		"deleted": func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) },
		"emptied": func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 0)) },
		"deleted with all that rm * deletes": func(t *testing.T, path string) {
			names, err := filepath.Glob(filepath.Join(filepath.Dir(path), "[^.]*"))
			require.NoError(t, err)
			for _, name := range names {
				require.NoError(t, os.RemoveAll(name))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := kept(t)
			lose(t, path)
			_, m, p := openFile(path)
			require.Empty(t, m.records)
			require.NotNil(t, p.get(Damage))
			require.Contains(t, p.get(Damage).Reason, "missing: all")
			files, err := filepath.Glob(path + ".*-*")
			require.NoError(t, err)
			require.Len(t, files, 1)
			require.Contains(t, p.get(Damage).NextStep, "rm "+files[0])

			again, _, p := openFile(path)
			require.NotNil(t, p.get(Damage), "the next start reports the same loss")
			require.NoError(t, os.Remove(files[0]))
			again.checkLosses()
			require.Nil(t, p.get(Damage))
			_, _, p = openFile(path)
			require.Empty(t, p.now, "the loss was accepted")
		})
	}
}

func TestAKillAfterTheNoteLeavesOneNote(t *testing.T) {
	t.Parallel()
	path := kept(t)
	require.NoError(t, os.Remove(path))
	first, err := realDisk{}.note(path, suffixMissing, "written by a process that was killed")
	require.NoError(t, err)
	_, _, p := openFile(path)
	require.Contains(t, p.get(Damage).NextStep, "rm "+first)
	files, err := filepath.Glob(path + ".*-*")
	require.NoError(t, err)
	require.Equal(t, []string{first}, files)
}

func TestAHistoryOfABuildWithoutTheSignIsNoLoss(t *testing.T) {
	t.Parallel()
	path := kept(t)
	j := &Journal{o: Options{Path: path}}
	require.NoError(t, os.Remove(j.sign()))
	_, m, p := openFile(path)
	require.Len(t, m.records, len(samples()))
	require.Empty(t, p.now)
	require.FileExists(t, j.sign(), "from now on it is noticed")
}
