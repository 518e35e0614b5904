// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/owned"
)

// machine has caches of each kind, and of each an old and a new one where that matters.
type machine struct {
	*Caches
	environment *workspace.Workspace
}

const (
	oldProgram, newProgram = "aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"
	digest                 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

func newMachine(t *testing.T) *machine {
	t.Helper()
	home := t.TempDir()
	m := &machine{Caches: &Caches{
		CacheDir: filepath.Join(home, "cache", "pipedeck"), PipedDir: filepath.Join(home, "cache", "piped"),
		StateDir: filepath.Join(home, "state"), Now: time.Now,
		Programs: func(context.Context) ([]string, error) { return nil, nil },
	}}
	m.Embedded = m.program(newProgram)
	for _, name := range []string{oldProgram, newProgram} {
		write(t, m.program(name), 100<<10)
		write(t, filepath.Join(filepath.Dir(m.program(name)), "lock"), 0)
	}
	write(t, filepath.Join(m.CacheDir, "images", digest+".tar"), 50<<10)
	write(t, filepath.Join(m.CacheDir, "charts", digest+"-"+digest), 10<<10)
	w, err := workspace.At(m.StateDir, "default")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	m.environment = w
	for _, dir := range []string{m.PipedDir, w.PipedDir()} {
		require.NoError(t, os.MkdirAll(filepath.Dir(dir), 0o700))
		root, err := owned.Claim(dir, pipedMark, nil)
		require.NoError(t, err)
		require.NoError(t, root.Close())
		write(t, filepath.Join(dir, "plugins", "wait-0123456789abcdef"), 20<<10)
		write(t, filepath.Join(dir, "plugins", "fetched", "content", digest), 20<<10)
		write(t, filepath.Join(dir, "tools", "terraform-1.2.3"), 30<<10)
		write(t, filepath.Join(dir, "repositories", "app", "HEAD"), 4<<10)
		write(t, filepath.Join(dir, "spool", "0123456789abcdef", "for.txt"), 1)
	}
	return m
}

func (m *machine) program(name string) string {
	return filepath.Join(m.CacheDir, "embeddedk8s", name, "embeddedk8s")
}

func write(t *testing.T, path string, size int) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("x", size)), 0o600))
}

func (m *machine) list(t *testing.T) []*Entry {
	t.Helper()
	all, err := m.List(t.Context())
	require.NoError(t, err)
	return all
}

func of(all []*Entry, kind, below string) *Entry {
	i := slices.IndexFunc(all, func(e *Entry) bool { return e.Kind == kind && strings.HasPrefix(e.Path, below) })
	if i < 0 {
		return nil
	}
	return all[i]
}

func TestEveryCacheIsListedWithItsSize(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	all := m.list(t)
	require.Len(t, all, 10)
	require.Equal(t, int64(100<<10), of(all, KindEmbedded, filepath.Dir(m.program(oldProgram))).Bytes)
	require.InDelta(t, 50<<10, of(all, KindImages, m.CacheDir).Bytes, 8<<10, "file systems have blocks")
	for _, dir := range []string{m.PipedDir, m.environment.PipedDir()} {
		require.Equal(t, int64(40<<10), of(all, KindPlugins, dir).Bytes)
		require.NotNil(t, of(all, KindTools, dir))
		require.NotNil(t, of(all, KindMirrors, dir))
	}
	require.True(t, of(all, KindEmbedded, filepath.Dir(m.program(oldProgram))).Outdated)
	require.False(t, of(all, KindEmbedded, filepath.Dir(m.program(newProgram))).Outdated)
	require.False(t, of(all, KindImages, m.CacheDir).Outdated)

	m.Now = func() time.Time { return time.Now().Add(outdatedAfter + time.Hour) }
	later := m.list(t)
	require.True(t, of(later, KindImages, m.CacheDir).Outdated)
	require.True(t, of(later, KindTools, m.PipedDir).Outdated)
	require.False(t, of(later, KindEmbedded, filepath.Dir(m.program(newProgram))).Outdated, "the next start uses it")
	require.False(t, of(later, KindMirrors, m.PipedDir).Outdated, "it needs a network to be created again")
}

func TestAFileWithTwoNamesCountsOnce(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	plugins := filepath.Join(m.PipedDir, "plugins")
	before := of(m.list(t), KindPlugins, m.PipedDir).Bytes
	require.NoError(t, os.Link(filepath.Join(plugins, "wait-0123456789abcdef"),
		filepath.Join(plugins, "scriptrun-0123456789abcdef")))
	require.Equal(t, before, of(m.list(t), KindPlugins, m.PipedDir).Bytes)
}

func TestEverythingThatIsRemovedIsGoneAndNothingElse(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	// What is not ours: another name, a link, a program next to other files, a directory without the mark.
	foreign := []string{
		filepath.Join(m.CacheDir, "images", "thesis.tar"), filepath.Join(m.CacheDir, "notes.txt"),
		filepath.Join(m.CacheDir, "embeddedk8s", "cccccccccccccccc", "thesis.txt"),
		filepath.Join(m.PipedDir, "plugins", "README"),
	}
	for _, path := range foreign {
		write(t, path, 10)
	}
	outside := filepath.Join(t.TempDir(), "documents")
	write(t, filepath.Join(outside, "letter"), 10)
	link := filepath.Join(m.CacheDir, "images", strings.Repeat("f", 64)+".tar")
	require.NoError(t, os.Symlink(filepath.Join(outside, "letter"), link))
	kept := []string{
		filepath.Join(m.environment.PipedDir(), "spool", "0123456789abcdef", "for.txt"),
		filepath.Join(m.PipedDir, "spool", "0123456789abcdef", "for.txt"), filepath.Join(outside, "letter"), link,
	}
	for _, e := range m.list(t) {
		require.NoError(t, m.Remove(e))
		require.True(t, e.Removed)
	}
	for _, path := range append(foreign, kept...) {
		_, err := os.Lstat(path)
		require.NoError(t, err, path)
	}
	require.NoDirExists(t, filepath.Dir(m.program(oldProgram)))
	require.Empty(t, m.list(t))
	exists, err := m.environment.Exists()
	require.NoError(t, err)
	require.True(t, exists, "an environment is no cache")
}

func TestWhatIsInUseStays(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	stale := m.list(t)
	lock, err := m.environment.Acquire()
	require.NoError(t, err)
	m.Programs = func(context.Context) ([]string, error) { return []string{m.program(oldProgram)}, nil }
	all := m.list(t)
	used := []*Entry{
		of(all, KindEmbedded, filepath.Dir(m.program(oldProgram))), of(all, KindImages, m.CacheDir),
		of(all, KindCharts, m.CacheDir), of(all, KindPlugins, m.environment.PipedDir()),
	}
	for _, e := range used {
		require.NotEmpty(t, e.UsedBy, e.Kind)
		require.ErrorIs(t, m.Remove(e), ErrUsed)
	}
	require.Empty(t, of(all, KindPlugins, m.PipedDir).UsedBy)
	require.ErrorIs(t, m.Remove(of(stale, KindPlugins, m.environment.PipedDir())), ErrUsed,
		"the environment has started since it was listed")
	require.NoError(t, lock.Release())

	unlock, err := flock(filepath.Join(m.PipedDir, owned.LockFile))
	require.NoError(t, err)
	require.Equal(t, "a piped that runs", of(m.list(t), KindTools, m.PipedDir).UsedBy)
	unlock()
	compiling, err := flock(filepath.Join(filepath.Dir(m.program(newProgram)), "lock"))
	require.NoError(t, err)
	defer compiling()
	require.ErrorIs(t, m.Remove(of(stale, KindEmbedded, filepath.Dir(m.program(newProgram)))), ErrUsed)
}

func TestAProcessThatRunsIsAmongTheRunningPrograms(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	running, err := RunningPrograms(t.Context())
	require.NoError(t, err)
	require.Contains(t, running, self)
}
