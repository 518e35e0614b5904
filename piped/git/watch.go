// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Run feeds Changed until ctx ends: from file events for a local repository, from the clock for others. It keeps
// the mirror clean as well.
func (r *Repository) Run(ctx context.Context) error {
	var cleaner sync.WaitGroup
	defer cleaner.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cleaner.Go(func() { r.keepClean(ctx) })
	r.cleanUpSoon() // what a former process has left
	if r.local == nil {
		return r.poll(ctx)
	}
	return r.watch(ctx)
}

func (r *Repository) poll(ctx context.Context) error {
	ticker := time.NewTicker(r.options.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			r.signal()
		}
	}
}

// lookInterval is the time between two looks at a local repository without an event: the system reports neither that a
// directory above it was moved, nor changes on network file systems, nor what overflowed its queue.
const lookInterval = 5 * time.Second

// watch looks at the branch after each event in the directories that can move it. Looking costs one small
// file, so nothing has to be guessed from the kind of event, and a burst of events is one look. The clock
// is for what the system does not report, and for a system that watches no more directories.
func (r *Repository) watch(ctx context.Context) error {
	w := &branchWatch{repository: r, source: &local{path: r.local.path, remote: r.local.remote, branch: r.local.branch}}
	defer w.close()
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	w.look()
	r.signal() // What came before the watch was set up.
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case _, open := <-w.events:
			if !open {
				return nil
			}
			drain(w.events)
		case err, open := <-w.errors:
			if !open {
				return nil
			}
			r.logger.Debug("a file event was lost", "error", err)
		}
		w.look()
	}
}

// branchWatch is the watch of a local repository's branch.
type branchWatch struct {
	repository *Repository
	// source is another value of the storage's location: the one of the repository belongs to Update.
	source *local
	// watcher is nil while the system gives none.
	watcher *fsnotify.Watcher
	events  <-chan fsnotify.Event
	errors  <-chan error
	// last is the state of the branch at the last look, problem why it cannot be watched.
	last    []byte
	problem string
}

// look watches what there is to watch, and signals when the branch has moved.
func (w *branchWatch) look() {
	w.report(w.watchDirs())
	now := w.source.state()
	if !bytes.Equal(now, w.last) {
		w.repository.signal()
	}
	w.last = now
}

// report passes on whether the branch can be watched.
func (w *branchWatch) report(err error) {
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	if problem == w.problem {
		return
	}
	w.problem = problem
	r := w.repository
	if err != nil {
		r.logger.Warn("cannot watch all of the repository; it is looked at regularly", "interval", lookInterval, "error", err)
	}
	if r.options.Watched != nil {
		r.options.Watched(err)
	}
}

func (w *branchWatch) watchDirs() error {
	if w.watcher == nil {
		watcher, err := fsnotify.NewWatcher()
		if err != nil {
			return fmt.Errorf("watch repository %s: %w", w.repository.options.ID, err)
		}
		w.watcher, w.events, w.errors = watcher, watcher.Events, watcher.Errors
	}
	if err := watchDirs(w.watcher, w.source); err != nil {
		return fmt.Errorf("watch repository %s: %w", w.repository.options.ID, err)
	}
	return nil
}

func (w *branchWatch) close() {
	if w.watcher != nil {
		w.watcher.Close()
	}
}

func drain(events <-chan fsnotify.Event) {
	for {
		select {
		case _, open := <-events:
			if !open {
				return
			}
		default:
			return
		}
	}
}

// watchDirs watches the directories that exist now between the repository and the branch: packed-refs and
// HEAD are in the first, the branch in the last. Adding a directory again is harmless, and needed after it
// was removed and made anew. Without a repository the nearest directory above is watched.
func watchDirs(watcher *fsnotify.Watcher, source *local) error {
	dir, err := source.gitDir()
	if err != nil {
		return watcher.Add(nearestDir(source.path))
	}
	parts := strings.Split(source.branch.String(), "/")
	for i := range parts {
		path := filepath.Join(dir, filepath.Join(parts[:i]...))
		if _, err := os.Stat(path); err != nil {
			return nil
		}
		if err := watcher.Add(path); err != nil {
			return err
		}
	}
	return nil
}

func nearestDir(path string) string {
	for {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return path
		}
		parent := filepath.Dir(path)
		if parent == path {
			return path
		}
		path = parent
	}
}
