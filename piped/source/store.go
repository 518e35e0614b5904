// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/pipedeck/pipedeck/piped/git"
	"github.com/pipedeck/pipedeck/piped/secrets"
	"github.com/pipedeck/pipedeck/system/clock"
)

// maxIdle bounds the unchanged checkouts kept for later calls, over all repositories.
const maxIdle = 8

// Repository is what a store needs of package git.
type Repository interface {
	ID() string
	Checkout(ctx context.Context, hash, dir string) ([]git.LeftOut, error)
}

// advancer is a Repository that can bring a checkout to another commit, which writes only what differs.
type advancer interface {
	Advance(ctx context.Context, from, to, dir string, left []git.LeftOut) ([]git.LeftOut, error)
}

// Options of a Store.
type Options struct {
	// Dir is the store's own: it is emptied.
	Dir string
	// Decrypter opens the secrets of applications; nil when this piped has no key.
	Decrypter secrets.Decrypter
	// Masker learns every secret before it is written anywhere. Default: one of the store's own.
	Masker *secrets.Masker
	// Clock is what a caller waits by for a checkout in use; the system's by default.
	Clock  clock.Clock
	Logger *slog.Logger
}

// Store owns a directory with checkouts. Its methods may be called from several goroutines.
type Store struct {
	options Options
	dir     string
	logger  *slog.Logger

	mu     sync.Mutex
	next   int
	closed bool
	// idle holds unchanged checkouts, the one used last at the end.
	idle []*tree
	// used counts the checkouts that someone has.
	used int
	// waiting are those who want a checkout that is not there, in the order in which they came.
	waiting []*waiter
	// held counts those of used that are ready, by what they are a checkout of.
	held map[content]int
	// makers are by repository.
	makers map[string]*maker
}

// content is what a checkout holds.
type content struct{ repository, commit string }

// tree is one checkout.
type tree struct {
	content
	dir   string
	left  []git.LeftOut
	print fingerprint
	// private trees hold what only one application may see, and are never given to a later call.
	private bool
}

// New creates the directory, and empties it: what a former process has left there is of no use.
func New(options Options) (*Store, error) {
	if options.Masker == nil {
		options.Masker = secrets.NewMasker()
	}
	if options.Clock == nil {
		options.Clock = clock.System{}
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	absolute, err := filepath.Abs(options.Dir)
	if err == nil {
		err = os.RemoveAll(absolute)
	}
	if err == nil {
		err = os.MkdirAll(absolute, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("prepare the directory for sources: %w", err)
	}
	return &Store{
		options: options, dir: absolute, logger: options.Logger, held: map[content]int{}, makers: map[string]*maker{},
	}, nil
}

// Close removes everything. Sources that are still open lose their directory.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.idle = nil
	return os.RemoveAll(s.dir)
}

// oldest takes the checkout that was unused for longest, to bring it to another commit. The one used last
// stays, since it is likely to be asked for again; nil when there is no other.
func (s *Store) oldest(repository Repository) *tree {
	if _, ok := repository.(advancer); !ok {
		return nil
	}
	found := -1
	for i, t := range s.idle {
		if t.repository != repository.ID() {
			continue
		}
		if found >= 0 {
			t = s.idle[found]
			s.idle = append(s.idle[:found], s.idle[found+1:]...)
			return t
		}
		found = i
	}
	return nil
}

func (s *Store) newTree(repository string) *tree {
	s.next++
	return &tree{content: content{repository: repository}, dir: filepath.Join(s.dir, strconv.Itoa(s.next))}
}

// bring makes the tree a checkout of the commit: from what it holds when that is possible, else again.
func (s *Store) bring(ctx context.Context, t *tree, repository Repository, commit string) (*tree, error) {
	if t.commit != "" {
		left, err := repository.(advancer).Advance(ctx, t.commit, commit, t.dir, t.left)
		if err == nil {
			t.left = left
			return s.finish(t, commit)
		}
		s.logger.Debug("a checkout is made from the start", "repository", t.repository, "commit", commit, "reason", err)
		if err := errors.Join(s.remove(t), ctx.Err()); err != nil {
			return nil, err
		}
		s.mu.Lock()
		t = s.newTree(repository.ID())
		s.mu.Unlock()
	}
	var err error
	t.left, err = repository.Checkout(ctx, commit, t.dir)
	if errors.Is(err, git.ErrRepaired) {
		if err = s.remove(t); err == nil {
			t.left, err = repository.Checkout(ctx, commit, t.dir)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.remove(t))
	}
	return s.finish(t, commit)
}

func (s *Store) finish(t *tree, commit string) (_ *tree, err error) {
	t.commit = commit
	if t.print, err = takeFingerprint(t.dir); err != nil {
		return nil, errors.Join(err, s.remove(t))
	}
	return t, nil
}

func (s *Store) remove(t *tree) error {
	if os.RemoveAll(t.dir) == nil {
		return nil
	}
	// A plugin may have taken its own write permission away.
	if err := errors.Join(makeWritable(t.dir), os.RemoveAll(t.dir)); err != nil {
		return fmt.Errorf("remove checkout: %w", err)
	}
	return nil
}

func makeWritable(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return err
	})
}
