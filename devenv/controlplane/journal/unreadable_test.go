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
		"a named pipe": {func(t *testing.T, path string) { require.NoError(t, syscall.Mkfifo(path, 0o600)) }, "mv "},
		"a socket":     {socket, "mv "},
		"a symbolic link": {func(t *testing.T, path string) { require.NoError(t, os.Symlink(path+".real", path)) },
			"mv "},
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

			require.NoError(t, os.Rename(path+".real", path))
			require.Eventually(t, func() bool { return j.Ready() == nil }, waitFor, tick)
			require.True(t, j.Loaded())
			require.Len(t, m.records, len(samples()))
			require.Eventually(t, func() bool { return p.get(Writing) == nil }, waitFor, tick)
			keep(t, j, m, Record{Kind: Event, ID: "next"})
			require.Contains(t, onDisk(path), (&Record{Kind: Event, ID: "next"}).identity())
		})
	}
}

// onDisk are the objects of a history that a journal has open. A second journal would write it, too.
func onDisk(path string) map[string]Record {
	m := newMemory()
	data, err := os.ReadFile(path)
	if err != nil {
		return m.objects
	}
	scanFile(data, func(body []byte) bool {
		r, err := decode(body)
		return err == nil && m.Restore(r) == nil
	})
	return m.objects
}

// TestAHistoryThatIsPutBackTooLateIsKept says that a history that was moved away is not lost when a new one was begun
// before it is back.
func TestAHistoryThatIsPutBackTooLateIsKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	text := written(t)
	require.NoError(t, os.WriteFile(path+".real", text, 0o600))
	require.NoError(t, os.Mkdir(path, 0o700))
	j, m, p := openFile(path)
	running(t, j)
	require.Contains(t, p.get(Writing).NextStep, "mv ")
	require.NoError(t, os.Remove(path))
	require.Eventually(t, func() bool { return j.Ready() == nil }, waitFor, tick)
	keep(t, j, m, Record{Kind: Event, ID: "new"})
	require.NoError(t, os.Rename(path+".real", path))
	keep(t, j, m, Record{Kind: Event, ID: "next"})

	require.Eventually(t, func() bool { return p.get(Damage) != nil }, waitFor, tick)
	kept, err := filepath.Glob(path + ".other-*")
	require.NoError(t, err)
	require.Len(t, kept, 1)
	require.Contains(t, p.get(Damage).NextStep, "rm "+kept[0])
	other, err := os.ReadFile(kept[0])
	require.NoError(t, err)
	require.Equal(t, text, other)
	_, next, _ := openFile(path)
	require.Len(t, next.objects, 2, "what was acknowledged is kept, too")
}

// TestWhatTakesThePlaceOfAHistoryInUseIsReplaced says that a history that is open is written again from memory.
func TestWhatTakesThePlaceOfAHistoryInUseIsReplaced(t *testing.T) {
	t.Parallel()
	for name, block := range map[string]func(t *testing.T, path string){
		"a named pipe":    func(t *testing.T, path string) { require.NoError(t, syscall.Mkfifo(path, 0o600)) },
		"a symbolic link": func(t *testing.T, path string) { require.NoError(t, os.Symlink(path+".real", path)) },
		"a directory":     func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "state")
			j, m, p := openFile(path)
			running(t, j)
			keep(t, j, m, samples()...)
			require.NoError(t, os.Rename(path, path+".real"))
			before, err := os.ReadFile(path + ".real")
			require.NoError(t, err)
			block(t, path)
			m.append(j, Record{Kind: Event, ID: "next"})
			if err := j.Wait(testContext(t)); err != nil { // only a user may remove a directory
				require.Eventually(t, func() bool { return p.get(Writing) != nil }, waitFor, tick, err)
				require.Contains(t, p.get(Writing).Reason, "is a directory")
				require.Contains(t, p.get(Writing).NextStep, "mv "+path)
				require.NoError(t, os.Remove(path))
				require.Eventually(t, func() bool { return j.Ready() == nil }, waitFor, tick)
			}
			require.Len(t, onDisk(path), len(samples())+1)
			after, err := os.ReadFile(path + ".real")
			require.NoError(t, err)
			require.Equal(t, before, after, "a link is not followed")
		})
	}
}

// socket leaves a Unix socket. It is created in a directory with a short name, because the addresses of sockets are
// short.
func socket(t *testing.T, path string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "s")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	defer syscall.Close(fd)
	short := filepath.Join(dir, "s")
	require.NoError(t, syscall.Bind(fd, &syscall.SockaddrUnix{Name: short}))
	require.NoError(t, os.Rename(short, path))
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

// TestAHistoryThatIsMovedWhileNothingHappensIsNoticed has no record appended after the history has gone.
func TestAHistoryThatIsMovedWhileNothingHappensIsNoticed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	j, m, p := openFile(path)
	running(t, j)
	keep(t, j, m, samples()...)
	require.NoError(t, os.Rename(path, path+".real"))
	require.Eventually(t, func() bool { return len(onDisk(path)) == len(samples()) }, waitFor, tick,
		"it is written again")

	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o700))
	require.Eventually(t, func() bool { return p.get(Writing) != nil }, waitFor, tick)
	require.Contains(t, p.get(Writing).Reason, "is a directory")
	require.NoError(t, os.Remove(path))
	require.Eventually(t, func() bool { return p.get(Writing) == nil }, waitFor, tick)
}
