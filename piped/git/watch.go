// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watcher notices moves of the branch.
type watcher struct {
	id string
	// changed has a value after the branch may have moved.
	changed chan struct{}
	// source is a value of its own, whose storage is never opened; nil when the repository is not on this machine.
	source *local
	// interval is the polling interval of a repository that is not on this machine.
	interval time.Duration
	// report is called when the branch cannot be watched, and with nil when it can again; it may be nil.
	report func(err error)
	logger *slog.Logger
}

func (w *watcher) run(ctx context.Context) error {
	if w.source == nil {
		return w.poll(ctx)
	}
	return w.watch(ctx)
}

func (w *watcher) signal() {
	select {
	case w.changed <- struct{}{}:
	default: // One is waiting already.
	}
}

func (w *watcher) poll(ctx context.Context) error {
	ticker := time.NewTicker(w.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			w.signal()
		}
	}
}

// lookInterval is the time between two looks at a local repository without an event: the system reports neither that a
// directory above it was moved, nor changes on network file systems, nor what overflowed its queue.
const lookInterval = 5 * time.Second

// watch reads the branch after each event in the directories that can move it. Reading costs one small
// file, so nothing has to be guessed from the kind of event, and a burst of events is one look. The clock
// is for what the system does not report, and for a system that watches no more directories.
func (w *watcher) watch(ctx context.Context) error {
	b := &branchWatch{watcher: w}
	defer b.close()
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	b.look()
	w.signal() // What came before the watch was set up.
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case _, open := <-b.events:
			if !open {
				return nil
			}
			drain(b.events)
		case err, open := <-b.errors:
			if !open {
				return nil
			}
			w.logger.Debug("a file event was lost", "error", err)
		}
		b.look()
	}
}

// branchWatch is the watch of a local repository's branch.
type branchWatch struct {
	watcher *watcher
	// system is nil while the system gives no watcher.
	system *fsnotify.Watcher
	events <-chan fsnotify.Event
	errors <-chan error
	// last is the state of the branch at the last look, problem why it cannot be watched.
	last    []byte
	problem string
}

// look watches what there is to watch, and signals when the branch has moved.
func (b *branchWatch) look() {
	b.report(b.watchDirs())
	now := b.watcher.source.state()
	if !bytes.Equal(now, b.last) {
		b.watcher.signal()
	}
	b.last = now
}

// report passes on that the branch cannot be watched, and that it can again.
func (b *branchWatch) report(err error) {
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	if problem == b.problem {
		return
	}
	b.problem = problem
	if err != nil {
		b.watcher.logger.Warn(
			"cannot watch all of the repository; piped reads it regularly", "interval", lookInterval, "error", err,
		)
	}
	if b.watcher.report != nil {
		b.watcher.report(err)
	}
}

func (b *branchWatch) watchDirs() error {
	if b.system == nil {
		system, err := fsnotify.NewWatcher()
		if err != nil {
			return fmt.Errorf("watch repository %s: %w", b.watcher.id, err)
		}
		b.system, b.events, b.errors = system, system.Events, system.Errors
	}
	if err := watchDirs(b.system, b.watcher.source); err != nil {
		return fmt.Errorf("watch repository %s: %w", b.watcher.id, err)
	}
	return nil
}

func (b *branchWatch) close() {
	if b.system != nil {
		b.system.Close()
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
// was removed and created again. Without a repository the nearest directory above is watched.
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
