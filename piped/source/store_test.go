// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/git"
)

const goodConfig = "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: web\n"

// files is a repository with one commit.
type files struct {
	mu        sync.Mutex
	content   map[string]string
	checkouts int
}

func (f *files) ID() string { return "apps" }

func (f *files) Checkout(_ context.Context, _, dir string) ([]git.LeftOut, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.checkouts++
	for name, content := range f.content {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func newStore(t testing.TB) *Store {
	t.Helper()
	store, err := New(Options{Dir: filepath.Join(t.TempDir(), "sources")})
	require.NoError(t, err)
	return store
}

func TestSourceHoldsTheApplicationAndIsRemovedWithTheStore(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	repository := &files{content: map[string]string{"web/app.pipecd.yaml": goodConfig, "web/a": "1"}}
	source, err := store.Prepare(t.Context(), Request{Repository: repository, Commit: "c", Path: "web"})
	require.NoError(t, err)
	require.Equal(t, "web", source.Config.Name)
	message := source.Proto()
	require.Equal(t, goodConfig, string(message.ApplicationConfig))
	require.Equal(t, "app.pipecd.yaml", message.ApplicationConfigFilename)
	require.Equal(t, filepath.Join(source.RepositoryDirectory, ".pipe"), message.SharedConfigDirectory)
	require.FileExists(t, filepath.Join(message.ApplicationDirectory, "a"))
	require.NoError(t, source.Close())
	require.NoError(t, source.Close(), "a second time is harmless")
	require.NoError(t, store.Close())
	require.NoDirExists(t, store.dir)
	_, err = store.Prepare(t.Context(), Request{Repository: repository, Commit: "c", Path: "web"})
	require.ErrorContains(t, err, "closed")
}

func TestOnlyUnchangedDirectoriesAreUsedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(dir string) error
		want   int
	}{
		"nothing changed": {func(string) error { return nil }, 1},
		"a file was read": {
			func(dir string) error { _, err := os.ReadFile(filepath.Join(dir, "a")); return err }, 1,
		},
		"a file was written": {
			func(dir string) error { return os.WriteFile(filepath.Join(dir, "a"), []byte("2"), 0o644) }, 2,
		},
		"a file was added": {
			func(dir string) error { return os.WriteFile(filepath.Join(dir, "b"), nil, 0o644) }, 2,
		},
		"a file was removed": {func(dir string) error { return os.Remove(filepath.Join(dir, "a")) }, 2},
		"a mode was changed": {func(dir string) error { return os.Chmod(filepath.Join(dir, "a"), 0o600) }, 2},
		"a file was added far below": {
			func(dir string) error { return os.WriteFile(filepath.Join(dir, "../x/y/b"), nil, 0o644) }, 2,
		},
		"a file was written and its time set back": {func(dir string) error {
			name, at := filepath.Join(dir, "../x/y/a"), time.Unix(checkoutTime, 0)
			return errors.Join(os.WriteFile(name, []byte("2"), 0o644), os.Chtimes(name, at, at))
		}, 2},
		"a directory was added": {func(dir string) error { return os.Mkdir(filepath.Join(dir, "../x/new"), 0o755) }, 2},
		"a file was replaced": {func(dir string) error {
			return errors.Join(
				os.WriteFile(filepath.Join(dir, "b"), []byte("1"), 0o644),
				os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, "a")),
			)
		}, 2},
		"a directory was taken": {func(dir string) error { return os.RemoveAll(dir) }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := newStore(t)
			repository := &files{
				content: map[string]string{"web/app.pipecd.yaml": goodConfig, "web/a": "1", "x/y/a": "1"},
			}
			request := Request{Repository: repository, Commit: "c", Path: "web"}
			first, err := store.Prepare(t.Context(), request)
			require.NoError(t, err)
			require.NoError(t, c.change(first.ApplicationDirectory))
			require.NoError(t, first.Close())
			second, err := store.Prepare(t.Context(), request)
			require.NoError(t, err)
			defer func() { require.NoError(t, second.Close()) }()
			require.Equal(t, c.want, repository.checkouts)
			content, err := os.ReadFile(filepath.Join(second.ApplicationDirectory, "a"))
			require.NoError(t, err)
			require.Equal(t, "1", string(content))
		})
	}
}

func TestSourcesInUseAreNotSharedAndIdleOnesAreBounded(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	repository := &files{content: map[string]string{"app.pipecd.yaml": goodConfig}}
	var sources []*Source
	seen := map[string]bool{}
	for range maxIdle + 3 {
		source, err := store.Prepare(t.Context(), Request{Repository: repository, Commit: "c", Path: "."})
		require.NoError(t, err)
		require.False(t, seen[source.RepositoryDirectory])
		seen[source.RepositoryDirectory] = true
		sources = append(sources, source)
	}
	for _, source := range sources {
		require.NoError(t, source.Close())
	}
	entries, err := os.ReadDir(store.dir)
	require.NoError(t, err)
	require.Len(t, entries, maxIdle)
}

func TestPathsThatLeadOutAreRefused(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	repository := &files{content: map[string]string{"app.pipecd.yaml": goodConfig}}
	for _, request := range []Request{
		{Repository: repository, Path: "../x"}, {Repository: repository, Path: "/etc"},
		{Repository: repository, Path: "a/../../x"},
		{Repository: repository, Path: ".", ConfigFilename: "../app.pipecd.yaml"},
	} {
		_, err := store.Prepare(t.Context(), request)
		require.Error(t, err)
	}
	require.Zero(t, repository.checkouts)
}

func TestMissingAndBrokenConfigurationsAreReported(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	repository := &files{content: map[string]string{"web/app.pipecd.yaml": "apiVersion: x\n"}}
	_, err := store.Prepare(
		t.Context(), Request{Repository: repository, Commit: "c", Path: "web", ConfigFilename: "other.pipecd.yaml"},
	)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = store.Prepare(t.Context(), Request{Repository: repository, Commit: "c", Path: "web"})
	var list config.Errors
	require.ErrorAs(t, err, &list)
	require.Equal(t, "web/app.pipecd.yaml", list[0].File)
	require.Equal(t, 1, repository.checkouts, "a directory that was not changed is used again")
}

// advancing is a repository that can bring a checkout to another commit.
type advancing struct {
	files
	advances []string
	refuse   bool
}

func (a *advancing) Advance(ctx context.Context, from, to, dir string, left []git.LeftOut) ([]git.LeftOut, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.advances = append(a.advances, from+" "+to)
	if a.refuse {
		return nil, git.ErrLinks
	}
	return append(left, git.LeftOut{Path: to}), os.WriteFile(filepath.Join(dir, "commit"), []byte(to), 0o644)
}

func TestAnUnusedCheckoutIsBroughtToANewCommit(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	repository := &advancing{files: files{content: map[string]string{"app.pipecd.yaml": goodConfig}}}
	prepare := func(commit string) *Source {
		t.Helper()
		source, err := store.Prepare(t.Context(), Request{Repository: repository, Commit: commit, Path: "."})
		require.NoError(t, err)
		return source
	}
	require.NoError(t, prepare("1").Close())
	require.NoError(t, prepare("2").Close())
	require.Equal(t, 2, repository.checkouts, "the one used last stays")
	third := prepare("3")
	require.Equal(t, []string{"1 3"}, repository.advances)
	require.Equal(t, []git.LeftOut{{Path: "3"}}, third.LeftOut)
	require.Equal(t, "3", read(t, filepath.Join(third.RepositoryDirectory, "commit")))
	require.NoError(t, third.Close())
	again := prepare("3")
	require.Equal(t, third.RepositoryDirectory, again.RepositoryDirectory)
	require.NoError(t, os.WriteFile(filepath.Join(again.RepositoryDirectory, "mine"), nil, 0o644))
	require.NoError(t, again.Close(), "what was changed is never advanced")
	require.NoError(t, prepare("4").Close())
	require.Equal(t, []string{"1 3"}, repository.advances)
	require.Equal(t, 3, repository.checkouts)

	repository.refuse = true
	require.NoError(t, prepare("5").Close())
	require.Equal(t, []string{"1 3", "2 5"}, repository.advances)
	require.Equal(t, 4, repository.checkouts, "what cannot be advanced is made from the start")
	entries, err := os.ReadDir(store.dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "and the other is removed")
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(data)
}

func BenchmarkPrepareAndCloseOfThousandFiles(b *testing.B) {
	store := newStore(b)
	repository := &files{content: map[string]string{"app.pipecd.yaml": goodConfig}}
	for i := range 1000 {
		repository.content[fmt.Sprintf("d%d/f%d", i%20, i)] = "x"
	}
	for b.Loop() {
		source, err := store.Prepare(b.Context(), Request{Repository: repository, Commit: "c", Path: "."})
		require.NoError(b, err)
		require.NoError(b, source.Close())
	}
	require.Equal(b, 1, repository.checkouts)
}

func TestACheckoutNeedsNoApplication(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	repository := &files{content: map[string]string{"shop/app.pipecd.yaml": goodConfig}}
	source, err := store.Checkout(t.Context(), Request{Repository: repository, Commit: "c", Path: "web"})
	require.NoError(t, err)
	message := source.Proto()
	require.FileExists(t, filepath.Join(message.ApplicationDirectory, "../shop/app.pipecd.yaml"))
	require.Empty(t, message.ApplicationConfig)
	require.Equal(t, filepath.Join(source.RepositoryDirectory, ".pipe"), message.SharedConfigDirectory)
	require.NoError(t, source.Close())
}
