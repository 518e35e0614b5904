// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/git"
)

// gated is a repository whose checkouts wait for a word. began reports each.
type gated struct {
	files
	began chan struct{}
	gate  chan struct{}
}

func newGated() *gated {
	return &gated{
		files: files{content: map[string]string{"web/app.pipecd.yaml": goodConfig}},
		began: make(chan struct{}, 100), gate: make(chan struct{}, 100),
	}
}

func (g *gated) Checkout(ctx context.Context, hash, dir string) ([]git.LeftOut, error) {
	g.began <- struct{}{}
	select {
	case <-g.gate:
		return g.files.Checkout(ctx, hash, dir)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type prepared struct {
	source *Source
	err    error
}

func prepare(ctx context.Context, s *Store, r Repository) <-chan prepared {
	done := make(chan prepared, 1)
	go func() {
		source, err := s.Prepare(ctx, Request{Repository: r, Commit: "c", Path: "web"})
		done <- prepared{source, err}
	}()
	return done
}

// waits returns when so many callers wait for a checkout.
func waits(t *testing.T, s *Store, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.waiting) == n
	}, time.Minute, time.Millisecond)
}

func TestAReturnedDirectoryGoesToWhoeverWaitsWhileOthersAreMade(t *testing.T) {
	t.Parallel()
	store, repository := newStore(t), newGated()
	repository.gate <- struct{}{}
	first := <-prepare(t.Context(), store, repository)
	require.NoError(t, first.err)
	<-repository.began

	ctx, cancel := context.WithCancel(t.Context())
	var slow []<-chan prepared
	for range maxMaking {
		slow = append(slow, prepare(ctx, store, repository))
		<-repository.began
	}
	waiting := prepare(t.Context(), store, repository)
	waits(t, store, 1)
	require.Len(t, repository.began, 0, "no more are made at the same time")

	require.NoError(t, first.source.Close())
	second := <-waiting
	require.NoError(t, second.err)
	require.Equal(t, first.source.RepositoryDirectory, second.source.RepositoryDirectory)
	require.NoError(t, second.source.Close())

	cancel()
	for _, s := range slow {
		require.ErrorIs(t, (<-s).err, context.Canceled)
	}
	require.Zero(t, store.used)
	require.Len(t, store.idle, 1)
}

func TestADirectoryInUseIsWaitedForAsLongAsAnotherWouldTake(t *testing.T) {
	t.Parallel()
	store, repository := newStore(t), newGated()
	repository.gate <- struct{}{}
	first := <-prepare(t.Context(), store, repository)
	require.NoError(t, first.err)
	<-repository.began
	store.makers["apps"].cost = time.Hour

	waiting := prepare(t.Context(), store, repository)
	waits(t, store, 1)
	ctx, cancel := context.WithCancel(t.Context())
	impatient := prepare(ctx, store, repository)
	waits(t, store, 2)
	cancel()
	require.ErrorIs(t, (<-impatient).err, context.Canceled)
	require.NoError(t, first.source.Close())
	second := <-waiting
	require.NoError(t, second.err)
	require.NoError(t, second.source.Close())
	require.Empty(t, repository.began, "no other was made")

	store.makers["apps"].cost = time.Millisecond
	first = <-prepare(t.Context(), store, repository)
	require.NoError(t, first.err)
	repository.gate <- struct{}{}
	third := <-prepare(t.Context(), store, repository)
	require.NoError(t, third.err, "in the end it is made")
	require.Len(t, repository.began, 1)
	require.NoError(t, third.source.Close())
	require.NoError(t, first.source.Close())
	require.Empty(t, store.held)
}

func TestManyAtOnceShareFewDirectories(t *testing.T) {
	t.Parallel()
	const callers = 100
	store, repository := newStore(t), newGated()
	var all []<-chan prepared
	for range callers {
		all = append(all, prepare(t.Context(), store, repository))
	}
	waits(t, store, callers-maxMaking)
	for range maxMaking {
		repository.gate <- struct{}{}
	}
	var ended sync.WaitGroup
	var done atomic.Int32
	for _, one := range all {
		ended.Go(func() {
			got := <-one
			if got.err == nil {
				got.err = got.source.Close()
			}
			if got.err != nil {
				t.Error(got.err)
			}
			done.Add(1)
		})
	}
	require.Eventually(t, func() bool { return done.Load() >= callers-maxMaking }, time.Minute, time.Millisecond,
		"what was made first is enough for all that do not make their own")
	for range maxMaking {
		repository.gate <- struct{}{}
	}
	ended.Wait()
	require.LessOrEqual(t, repository.checkouts, 2*maxMaking)
	require.Zero(t, store.used)
	require.Empty(t, store.waiting)
}

func TestWhoeverStopsWaitingGetsNothing(t *testing.T) {
	t.Parallel()
	store, repository := newStore(t), newGated()
	ctx, cancel := context.WithCancel(t.Context())
	for range maxMaking {
		prepare(ctx, store, repository)
		<-repository.began
	}
	impatient := prepare(ctx, store, repository)
	waits(t, store, 1)
	cancel()
	require.ErrorIs(t, (<-impatient).err, context.Canceled)
	waits(t, store, 0)
}

func TestNothingIsPreparedAheadWhileMuchIsInUse(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	repository := &files{content: map[string]string{"web/app.pipecd.yaml": goodConfig}}
	ahead := Request{Repository: repository, Commit: "c", Path: "web", Ahead: true}
	var open []*Source
	for range maxAhead {
		source, err := store.Prepare(t.Context(), ahead)
		require.NoError(t, err)
		open = append(open, source)
	}
	_, err := store.Prepare(t.Context(), ahead)
	require.ErrorIs(t, err, ErrBusy)

	now := ahead
	now.Ahead = false
	source, err := store.Prepare(t.Context(), now)
	require.NoError(t, err, "what is needed now is made")
	for _, s := range append(open, source) {
		require.NoError(t, s.Close())
	}
	source, err = store.Prepare(t.Context(), ahead)
	require.NoError(t, err)
	require.NoError(t, source.Close())
}

// readable is a repository that reads single files.
type readable struct{ files }

func (r *readable) ReadFile(_ context.Context, _, name string) ([]byte, error) {
	content, found := r.content[name]
	switch {
	case !found:
		return nil, fs.ErrNotExist
	case content == "link":
		return nil, fs.ErrInvalid
	}
	return []byte(content), nil
}

func TestADescribedSourceHasNoDirectory(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	repository := &readable{files{content: map[string]string{
		"web/app.pipecd.yaml": goodConfig, "broken/app.pipecd.yaml": "kind: Nothing\n",
		"linked/app.pipecd.yaml": "link",
	}}}
	source, err := store.Describe(t.Context(), Request{Repository: repository, Commit: "c", Path: "web"})
	require.NoError(t, err)
	require.Equal(t, "web", source.Config.Name)
	message := source.Proto()
	require.Equal(t, "c", message.GetCommitHash())
	require.Equal(t, goodConfig, string(message.GetApplicationConfig()))
	require.Equal(t, "app.pipecd.yaml", message.GetApplicationConfigFilename())
	require.Empty(t, message.GetApplicationDirectory()+message.GetSharedConfigDirectory())
	require.NoError(t, source.Close())
	require.Zero(t, repository.checkouts)

	_, err = store.Describe(t.Context(), Request{Repository: repository, Commit: "c", Path: "absent"})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, filepath.Join("absent", "app.pipecd.yaml")+" is missing at commit c")
	_, err = store.Describe(t.Context(), Request{Repository: repository, Commit: "c", Path: "broken"})
	require.ErrorContains(t, err, "broken/app.pipecd.yaml")
	_, err = store.Describe(t.Context(), Request{Repository: repository, Commit: "c", Path: "../x"})
	require.ErrorContains(t, err, "not inside")

	_, err = store.Describe(t.Context(), Request{Repository: repository, Commit: "c", Path: "linked"})
	require.Error(t, err, "the file of this test is no configuration")
	require.Equal(t, 1, repository.checkouts, "what cannot be read alone is checked out")
}
