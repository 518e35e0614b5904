// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package filewatch_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/filewatch"
)

func watching(t *testing.T, options filewatch.Options) *filewatch.Watcher {
	t.Helper()
	w := filewatch.New(options)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return w
}

// requireEvent waits for a change of a path.
func requireEvent(t *testing.T, w *filewatch.Watcher, path string) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		select {
		case event := <-w.Events():
			if event.Name == path {
				return
			}
		case <-deadline:
			require.Fail(t, "no event", path)
		}
	}
}

func directory(t *testing.T, elements ...string) string {
	t.Helper()
	dir := filepath.Join(elements...)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	return dir
}

func write(t *testing.T, elements ...string) string {
	t.Helper()
	path := filepath.Join(elements...)
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o644))
	return path
}

func TestADirectoryThatIsBackIsWatchedAgain(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	one := directory(t, root, "one")
	w := watching(t, filewatch.Options{Most: 10})
	require.Nil(t, w.Events())
	require.Nil(t, w.Lost())
	require.Empty(t, w.Paths())
	paths := slices.Values([]string{root, one, filepath.Join(root, "later")})
	require.NoError(t, w.Watch(paths), "a path that does not exist is skipped")
	require.ElementsMatch(t, []string{root, one}, w.Paths())
	requireEvent(t, w, write(t, one, "a"))

	require.NoError(t, os.RemoveAll(one))
	requireEvent(t, w, one)
	require.NoError(t, os.Mkdir(one, 0o755))
	require.NoError(t, w.Watch(paths))
	requireEvent(t, w, write(t, one, "b"))
	require.ErrorIs(t, w.Add(filepath.Join(root, "later")), fs.ErrNotExist)
}

func TestTheNumberOfWatchedPathsIsBounded(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	one, two, three := directory(t, root, "1"), directory(t, root, "2"), directory(t, root, "3")
	var reports []error
	w := watching(t, filewatch.Options{Most: 2, Report: func(err error) { reports = append(reports, err) }})
	all := slices.Values([]string{one, two, three})
	require.ErrorIs(t, w.Watch(all), filewatch.ErrTooMany)
	require.ElementsMatch(t, []string{one, two}, w.Paths())
	require.NoError(t, w.Add(two), "it is watched already")
	require.ErrorIs(t, w.Add(three), filewatch.ErrTooMany)
	require.Empty(t, reports, "the bound is not a refusal of the system")

	require.NoError(t, os.Remove(one))
	requireEvent(t, w, one)
	require.NoError(t, w.Watch(all), "there is a place again")
	require.ElementsMatch(t, []string{two, three}, w.Paths())
}

func TestASystemWithoutWatchesIsReportedOnceAndAskedAgain(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	exhausted := true
	var reports []error
	w := watching(t, filewatch.Options{
		Most: 1, Report: func(err error) { reports = append(reports, err) },
		Open: func() (*fsnotify.Watcher, error) {
			if exhausted {
				return nil, syscall.EMFILE
			}
			return fsnotify.NewWatcher()
		},
	})
	paths := slices.Values([]string{root})
	require.ErrorIs(t, w.Watch(paths), syscall.EMFILE)
	require.ErrorIs(t, w.Watch(paths), syscall.EMFILE)
	require.ErrorIs(t, w.Add(root), syscall.EMFILE)
	require.Len(t, reports, 1)
	require.ErrorIs(t, reports[0], syscall.EMFILE)
	require.Nil(t, w.Events())

	exhausted = false
	require.NoError(t, w.Watch(paths))
	require.Len(t, reports, 2)
	require.NoError(t, reports[1])
	requireEvent(t, w, write(t, root, "a"))
	require.NoError(t, filewatch.Check())
}
