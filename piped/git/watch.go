// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/system/filewatch"
)

// watcher notices moves of the branch.
type watcher struct {
	id string
	// changed has a value after the branch may have moved.
	changed chan struct{}
	// source is a separate value, whose storage is never opened; nil when the repository is not on this machine.
	source *local
	// interval is the polling interval of a repository that is not on this machine.
	interval time.Duration
	// report is called when the branch cannot be watched, and with nil when it can again; it may be nil.
	report func(err error)
	clock  clock.Timer
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
	for clock.Wait(ctx, w.clock, w.interval) == nil {
		w.signal()
	}
	return nil
}

const (
	// lookInterval is the time between two looks at a local repository without an event: the system reports neither
	// that a directory above it was moved, nor changes on network file systems, nor what overflowed its queue.
	lookInterval = 5 * time.Second
	// maxDirs bounds the watched directories: those of the branch, and those above while there is no repository.
	maxDirs = 1_000
)

// watch reads the branch after each event in the directories that can move it. Reading costs one small
// file, so nothing has to be guessed from the kind of event, and a burst of events is one look. The clock
// is for what the system does not report, and for a system that watches no more directories.
func (w *watcher) watch(ctx context.Context) error {
	b := &branchWatch{watcher: w}
	b.files = filewatch.New(filewatch.Options{Most: maxDirs, Report: b.report})
	defer b.files.Close()
	b.look()
	w.signal() // What came before the watch was set up.
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.clock.After(lookInterval):
		case _, open := <-b.files.Events():
			if !open {
				return nil
			}
			drain(b.files.Events())
		case err, open := <-b.files.Lost():
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
	files   *filewatch.Watcher
	// last is the state of the branch at the last look.
	last []byte
}

// look watches what there is to watch, and signals when the branch has moved.
func (b *branchWatch) look() {
	_ = b.files.Watch(branchDirs(b.watcher.source)) // report gets the error
	now := b.watcher.source.state()
	if !bytes.Equal(now, b.last) {
		b.watcher.signal()
	}
	b.last = now
}

// report passes on that the branch cannot be watched, and that it can again.
func (b *branchWatch) report(err error) {
	if err != nil {
		err = fmt.Errorf("repository %s: %w", b.watcher.id, err)
		b.watcher.logger.Warn(
			"cannot watch all of the repository; piped reads it regularly", "interval", lookInterval, "error", err,
		)
	}
	if b.watcher.report != nil {
		b.watcher.report(err)
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

// branchDirs are the directories that exist now between the repository and the branch: packed-refs and
// HEAD are in the first, the branch in the last. Without a repository it is the nearest directory above.
func branchDirs(source *local) iter.Seq[string] {
	return func(yield func(string) bool) {
		dir, err := source.gitDir()
		if err != nil {
			yield(nearestDir(source.path))
			return
		}
		parts := strings.Split(source.branch.String(), "/")
		for i := range parts {
			path := filepath.Join(dir, filepath.Join(parts[:i]...))
			if _, err := os.Stat(path); err != nil || !yield(path) {
				return
			}
		}
	}
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
