// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"bytes"
	"context"
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
	ticker := time.NewTicker(r.options.Interval)
	defer ticker.Stop()
	if r.local == nil {
		return r.poll(ctx, ticker)
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		r.logger.Warn("cannot watch the repository, polling instead", "interval", r.options.Interval, "error", err)
		return r.poll(ctx, ticker)
	}
	defer watcher.Close()
	return r.watch(ctx, watcher, ticker)
}

func (r *Repository) poll(ctx context.Context, ticker *time.Ticker) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			r.signal()
		}
	}
}

// watch looks at the branch after each event in the directories that can move it. Looking costs one small
// file, so nothing has to be guessed from the kind of event, and a burst of events is one look. The clock
// is for what the system does not report: network file systems, an overflown event queue.
func (r *Repository) watch(ctx context.Context, watcher *fsnotify.Watcher, ticker *time.Ticker) error {
	// Another value of the storage's location: l.dir belongs to Update.
	source := &local{path: r.local.path, remote: r.local.remote, branch: r.local.branch}
	warned := false
	look := func(last []byte) []byte {
		if err := watchDirs(watcher, source); err != nil && !warned {
			warned = true
			r.logger.Warn("cannot watch all of the repository, polling as well", "interval", r.options.Interval, "error", err)
		}
		now := source.state()
		if !bytes.Equal(now, last) {
			r.signal()
		}
		return now
	}
	last := look(nil)
	r.signal() // What came before the watch was set up.
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case _, open := <-watcher.Events:
			if !open {
				return nil
			}
			drain(watcher.Events)
		case err, open := <-watcher.Errors:
			if !open {
				return nil
			}
			r.logger.Debug("a file event was lost", "error", err)
		}
		last = look(last)
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
