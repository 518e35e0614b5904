// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/git"
	"github.com/pipedeck/pipedeck/system/clock"
)

// snapshot is a repository at one commit. It is not changed once made.
type snapshot struct {
	// head is zero while the branch could not be read once.
	head git.Commit
	// files are the application configurations at head, by path.
	files map[string]*file
	// err is why the last look failed; head and files are from an earlier one then.
	err error
	// looks counts the looks at the branch that have ended.
	looks int
}

// repository follows one branch, next to the trigger's own work, so that a slow remote holds up no one else.
type repository struct {
	git    *git.Repository
	clock  clock.Timer
	logger *slog.Logger
	// ask has a value while a look is wanted.
	ask chan struct{}
	// looked is called after each look.
	looked func(error)

	mu      sync.Mutex
	current snapshot
	begun   int             // looks that have begun
	extra   map[string]bool // configuration files whose names follow no rule
	rescan  bool            // extra has grown
}

func newRepository(mirror *git.Repository, timer clock.Timer, logger *slog.Logger, looked func(error)) *repository {
	return &repository{
		git: mirror, clock: timer, logger: logger.With("repository", mirror.ID()), looked: looked,
		ask: make(chan struct{}, 1), extra: map[string]bool{},
	}
}

// look asks for a look at the branch and returns its number: once snapshot.looks has reached it, the
// snapshot is newer than this call.
func (r *repository) look() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wake()
	return r.begun + 1
}

func (r *repository) wake() {
	select {
	case r.ask <- struct{}{}:
	default:
	}
}

func (r *repository) snapshot() snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current
}

// include adds a configuration file that is not found by its name.
func (r *repository) include(name string) {
	if config.IsApplicationFilename(name) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.extra[name] {
		r.extra[name] = true
		r.rescan = true
		r.wake()
	}
}

// run looks at once and after every move of the branch, until ctx ends. A look that failed is repeated.
func (r *repository) run(ctx context.Context) {
	backoff := clock.NewBackoff(firstPause, longestPause)
	for {
		err := r.update(ctx)
		if ctx.Err() != nil {
			return
		}
		r.looked(err)
		var again <-chan time.Time
		if err != nil {
			again = r.clock.After(backoff.Next())
		} else {
			backoff.Reset()
		}
		select {
		case <-ctx.Done():
			return
		case <-r.git.Changed():
		case <-r.ask:
		case <-again:
		}
	}
}

func (r *repository) update(ctx context.Context) error {
	r.mu.Lock()
	before := r.current
	r.begun++
	full, extra := r.rescan, maps.Clone(r.extra)
	r.rescan = false
	r.mu.Unlock()

	after := before
	after.looks++
	after.err = nil
	head, err := r.git.Update(ctx)
	if err == nil && (full || head.Hash != before.head.Hash) {
		from := before.head.Hash
		if full {
			from = ""
		}
		after.files, err = r.scan(ctx, before.files, from, head.Hash, extra)
	}
	if err != nil {
		after.err = fmt.Errorf("look at branch %s of repository %s: %w", r.git.Branch(), r.git.ID(), err)
		if ctx.Err() == nil && (before.err == nil || before.err.Error() != after.err.Error()) {
			r.logger.Error("cannot look at the repository; it is tried again", "error", err)
		}
		after.files = before.files
	} else {
		after.head = head
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = after
	r.rescan = r.rescan || full && err != nil
	return after.err
}

// scan reads the application configurations that differ between two commits, all of them when from is
// empty, and returns those at the second.
func (r *repository) scan(
	ctx context.Context, known map[string]*file, from, to string, extra map[string]bool,
) (map[string]*file, error) {
	isConfiguration := func(name string) bool { return config.IsApplicationFilename(name) || extra[name] }
	files := map[string]*file{}
	var names []string
	var err error
	if from == "" {
		names, err = r.git.FindFiles(ctx, to, isConfiguration)
	} else {
		files = maps.Clone(known)
		names, err = r.git.ChangedFiles(ctx, from, to)
		names = slices.DeleteFunc(names, func(name string) bool { return !isConfiguration(name) })
	}
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !config.IsReportablePath(name) {
			// The control plane would refuse all that is reported with it.
			r.logger.Error(
				"an application configuration is skipped, because its path is not one line of UTF-8 text: rename the "+
					"directory",
				"file", name,
			)
			continue
		}
		data, err := r.git.ReadFile(ctx, to, name)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, fs.ErrNotExist):
			delete(files, name)
			continue
		case isOfSystem(err):
			// No mistake of the file, which is not read again before a commit changes it: all is looked at again.
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		files[name] = readFile(name, data, err)
		r.report(files[name], to)
	}
	return files, nil
}

// isOfSystem reports whether the system refused to read, such as for too many open files, which passes.
func isOfSystem(err error) bool {
	var number syscall.Errno
	return errors.As(err, &number)
}

// report logs mistakes in a configuration, for users who have no other place to look at: the application
// may not even be registered.
func (r *repository) report(f *file, commit string) {
	if f.err != nil {
		r.logger.Error("application configuration is invalid, the application is not deployed until a commit fixes it",
			"file", f.path, "commit", commit, "error", f.err)
		return
	}
	if f.nameless != nil {
		r.logger.Warn("application configuration has no name: the application is ignored unless it is registered",
			"file", f.path, "commit", commit, "warning", f.nameless)
	}
	for _, warning := range f.application.Warnings {
		r.logger.Warn("application configuration has a doubtful place", "file", f.path, "warning", warning)
	}
}
