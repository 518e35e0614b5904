// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	waitFor = time.Minute
	tick    = 10 * time.Millisecond
)

// TestAHistoryThatCannotBeReadIsReadLater puts something in the place of the history that cannot be read, and then the
// history.
func TestAHistoryThatCannotBeReadIsReadLater(t *testing.T) {
	t.Parallel()
	for name, block := range map[string]struct {
		make func(t *testing.T, path string)
		want string
	}{
		"a directory":     {func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o700)) }, "mv "},
		"a named pipe":    {func(t *testing.T, path string) { require.NoError(t, syscall.Mkfifo(path, 0o600)) }, "mv "},
		"a symbolic link": {func(t *testing.T, path string) { require.NoError(t, os.Symlink(path+".real", path)) }, "mv "},
		"not readable":    {unreadable, "chmod"},
		"of another user": {foreign, "mv "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "state")
			text := written(t)
			require.NoError(t, os.WriteFile(path+".real", text, 0o600))
			block.make(t, path)
			j, m, p := openFile(path)
			require.False(t, j.Loaded())
			require.Empty(t, m.records)
			running(t, j)
			require.Contains(t, p.get(Writing).Reason, "cannot read the history")
			require.Contains(t, p.get(Writing).NextStep, block.want)
			m.append(j, samples()[0])
			require.Error(t, j.Wait(testContext(t)))

			require.NoError(t, os.Rename(path, path+".moved"))
			require.NoError(t, os.Rename(path+".real", path))
			require.Eventually(t, func() bool { return j.Ready() == nil }, waitFor, tick)
			require.True(t, j.Loaded())
			require.Len(t, m.records, len(samples()))
			require.Eventually(t, func() bool { return p.get(Writing) == nil }, waitFor, tick)
			keep(t, j, m, Record{Kind: Event, ID: "next"})
			_, next, _ := openFile(path)
			require.Contains(t, next.objects, (&Record{Kind: Event, ID: "next"}).identity())
		})
	}
}

func unreadable(t *testing.T, path string) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("root reads every file")
	}
	require.NoError(t, os.WriteFile(path, nil, 0))
}

func foreign(t *testing.T, path string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Chown(path, 65534, -1))
}
