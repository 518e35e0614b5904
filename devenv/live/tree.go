// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
)

// Options of a Tree.
type Options struct {
	// Root is the top of the user's working tree, absolute.
	Root string
	// Branch is the name of the branch that snapshots are on, in their own repository.
	Branch string
	// CommitsOnly makes the commit at HEAD the snapshot, whatever is on disk: for a working tree without a branch that
	// piped could watch.
	CommitsOnly bool
	// Dir is the bare repository of the snapshots; made when missing. One Tree may use it at a time.
	Dir string
	// Watched is called when files cannot be watched, which are looked at every 2 s then, and with nil when they can
	// again. It may be nil.
	Watched func(err error)
	Logger  *slog.Logger
}

// Snapshot is the working tree at one moment.
type Snapshot struct {
	// Commit is the hash of the commit that stands for it.
	Commit string
	// Uncommitted are the files that differ from HEAD, sorted; empty when Commit is HEAD.
	Uncommitted []string
	// LeftOut are the repositories within the working tree, which are no part of a snapshot.
	LeftOut []string
	// New says that the branch of the snapshots has moved to Commit.
	New bool
}

// HeldError says why a working tree gets no snapshot as it is, and what to do about it.
type HeldError struct {
	Problem, Hint string
}

func (e *HeldError) Error() string { return e.Problem + "; " + e.Hint }

// Tree makes snapshots of one working tree. Its methods are for one goroutine.
type Tree struct {
	options Options
	logger  *slog.Logger
	// git works in the working tree with the user's configuration, but with our index and our objects.
	git program
	// store works in the repository of the snapshots.
	store program
	// gitDir belongs to the working tree, commonDir to all working trees of the repository.
	gitDir, commonDir string
	// name and email are the user's.
	name, email string

	index     index
	conflicts []string
	last      Snapshot
	tree      string // of last
	unswept   int    // snapshots since objects were removed
}

// Open prepares the repository of the snapshots. It does not change the user's repository.
func Open(ctx context.Context, options Options) (*Tree, error) {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	user, err := newProgram(options.Root)
	if err != nil {
		return nil, err
	}
	paths, err := user.line(ctx, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "--git-path",
		"objects", "--git-path", "index")
	if err != nil {
		return nil, fmt.Errorf("find the repository of %s: %w", options.Root, err)
	}
	found := strings.Split(paths, "\n")
	if len(found) != 4 {
		return nil, fmt.Errorf("find the repository of %s: a path in it has a line break, or git is older than 2.31",
			options.Root)
	}
	t := &Tree{options: options, logger: options.Logger, gitDir: found[0], commonDir: found[1],
		index: index{from: found[3], path: filepath.Join(options.Dir, "index")}}
	t.store = user.with("GIT_DIR=" + options.Dir)
	t.store.dir = filepath.Dir(options.Dir)
	if err := makeStore(ctx, t.store, options.Dir, options.Branch, found[2]); err != nil {
		return nil, err
	}
	t.git = user.with("GIT_INDEX_FILE="+t.index.path, "GIT_OBJECT_DIRECTORY="+filepath.Join(options.Dir, "objects"))
	t.name, t.email = signature(ctx, user)
	return t, t.remember(ctx)
}

// Repository is the path of the repository for piped to watch.
func (t *Tree) Repository() string { return t.options.Dir }

func (t *Tree) branch() string { return "refs/heads/" + t.options.Branch }

// remember finds the snapshot of a former process. One that has lost its objects, because the user's
// repository was cleaned since, is as good as none: the commit that is checked out stands until the first one.
func (t *Tree) remember(ctx context.Context) error {
	if t.options.CommitsOnly {
		return nil // Take moves the branch to HEAD, which needs nothing of before
	}
	found, err := t.store.line(ctx, "rev-parse", "--quiet", t.branch()+"^{commit}", t.branch()+"^{tree}")
	if commit, tree, ok := strings.Cut(found, "\n"); err == nil && ok {
		t.last.Commit, t.tree = commit, tree
		return t.sweep(ctx)
	}
	head, tree, err := t.head(ctx)
	if err == nil {
		_, err = t.store.run(ctx, "", "update-ref", t.branch(), head)
	}
	t.last.Commit, t.tree = head, tree
	return err
}

// signature is how the user signs commits; it may not be set up.
func signature(ctx context.Context, user program) (name, email string) {
	name, _ = user.line(ctx, "config", "user.name")
	email, _ = user.line(ctx, "config", "user.email")
	if name == "" {
		name = "pipedeck"
	}
	if email == "" {
		email = "pipedeck@localhost"
	}
	return name, email
}
