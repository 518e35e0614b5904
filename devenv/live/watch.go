// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/pipedeck/pipedeck/system/filewatch"
)

const (
	// settle is how long nothing may have changed before a snapshot: editors write a file in several
	// steps, and several files at once. While changes never cease there is one after longestSettle.
	settle        = 100 * time.Millisecond
	longestSettle = time.Second
	// pollInterval is for what cannot be watched.
	pollInterval = 2 * time.Second
	// maxDirs bounds the watched directories: each takes a place in a table of the kernel.
	maxDirs = 20_000
)

// Run takes a snapshot at once and after every change, until ctx ends, and reports each that is new and
// of each failure.
func (t *Tree) Run(ctx context.Context, report func(Snapshot, error)) error {
	w := newWatch(t, filewatch.Options{Most: maxDirs})
	defer w.files.Close()
	return w.run(ctx, report)
}

// watch turns events into snapshots.
type watch struct {
	tree  *Tree
	files *filewatch.Watcher
	// incomplete is set when not every directory is watched.
	incomplete bool
	// stale is set when there may be directories that are not watched yet.
	stale bool
}

func newWatch(t *Tree, options filewatch.Options) *watch {
	w := &watch{tree: t, stale: true}
	options.Report = w.report
	w.files = filewatch.New(options)
	return w
}

// report passes on whether files can be watched.
func (w *watch) report(err error) {
	if err != nil {
		w.tree.logger.Warn("not every directory can be watched; they are looked at", "interval", pollInterval, "error",
			err)
	}
	if w.tree.options.Watched != nil {
		w.tree.options.Watched(err)
	}
}

func (w *watch) run(ctx context.Context, report func(Snapshot, error)) error {
	due := time.NewTimer(0)
	defer due.Stop()
	var first time.Time // of the changes that wait for their snapshot; zero when there are none
	failed := ""
	for {
		changed := false
		select {
		case <-ctx.Done():
			return nil
		case event := <-w.files.Events():
			changed = w.matters(event)
		case err := <-w.files.Lost():
			w.tree.logger.Debug("file events were lost", "error", err)
			changed, w.stale = true, true
		case <-due.C:
			first = time.Time{}
			snapshot, err := w.look(ctx)
			switch {
			case ctx.Err() != nil:
				return nil
			case err != nil && err.Error() != failed:
				failed = err.Error()
				report(snapshot, err)
			case err == nil && (snapshot.New || failed != ""):
				failed = ""
				report(snapshot, nil)
			}
			if held := (*HeldError)(nil); err != nil && !errors.As(err, &held) {
				// Nothing reports when the tree can be read again: it may have been moved, or its disk was full.
				w.stale = true
				due.Reset(pollInterval)
			}
			if w.incomplete {
				due.Reset(pollInterval)
			}
		}
		if changed {
			now := time.Now()
			if first.IsZero() {
				first = now
			}
			due.Reset(min(settle, longestSettle-now.Sub(first)))
		}
	}
}

// look watches what is new, and then takes a snapshot: what changes in between is an event.
func (w *watch) look(ctx context.Context) (Snapshot, error) {
	if w.stale {
		w.stale = false
		if err := w.addAll(ctx); err != nil {
			w.stale = true
			return w.tree.last, err
		}
	}
	return w.tree.Take(ctx)
}

// matters reports whether an event can change the snapshot.
func (w *watch) matters(event fsnotify.Event) bool {
	name := filepath.Base(event.Name)
	for _, dir := range []string{w.tree.gitDir, w.tree.commonDir} {
		if rest, inside := strings.CutPrefix(event.Name, dir+string(filepath.Separator)); inside {
			rest = filepath.ToSlash(rest)
			return rest == "HEAD" || rest == "index" || rest == "packed-refs" || rest == "logs/HEAD" ||
				strings.HasPrefix(rest, "refs/") && !strings.HasSuffix(rest, ".lock")
		}
	}
	for _, pattern := range editorFiles {
		if matched, _ := path.Match(pattern, name); matched {
			return false
		}
	}
	if name == ".gitignore" {
		w.stale = true
	} else if event.Has(fsnotify.Create) {
		info, err := os.Lstat(event.Name)
		w.stale = w.stale || err == nil && info.IsDir()
	}
	return true
}

// addAll watches every directory that git inspects, and what moves when the user commits. Its error says that the tree
// cannot be read.
func (w *watch) addAll(ctx context.Context) error {
	var unread error
	refused := w.files.Watch(func(yield func(string) bool) { unread = w.eachDir(ctx, yield) })
	if refused != nil && !w.incomplete && errors.Is(refused, filewatch.ErrTooMany) {
		w.tree.logger.Warn("not every directory is watched, the rest is looked at",
			"interval", pollInterval, "error", refused)
	}
	w.incomplete = refused != nil
	// There may be watches later, but our own bound stays: looking is as good there.
	w.stale = w.stale || refused != nil && !errors.Is(refused, filewatch.ErrTooMany)
	return unread
}

// eachDir visits the directories to watch until visit returns false.
func (w *watch) eachDir(ctx context.Context, visit func(dir string) bool) error {
	for _, dir := range w.gitDirs() {
		if info, err := os.Stat(dir); err == nil && info.IsDir() && !visit(dir) {
			return nil
		}
	}
	if w.tree.options.CommitsOnly {
		return nil
	}
	ignored, err := w.ignored(ctx)
	if err != nil {
		return err
	}
	return walkDirs(ctx, w.tree.options.Root, ignored, func(dir string) error {
		if !visit(dir) {
			return fs.SkipAll
		}
		return nil
	})
}

// walkDirs visits the root and the directories below it that git does not ignore.
func walkDirs(ctx context.Context, root string, ignored map[string]bool, visit func(dir string) error) error {
	return filepath.WalkDir(root, func(dir string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && dir == root:
			return err
		case err != nil:
			return fs.SkipDir // gone, or closed to us; git will say so if it matters
		case !entry.IsDir():
			return nil
		case entry.Name() == ".git", dir != root && ignored[dir]:
			return fs.SkipDir
		}
		return visit(dir)
	})
}

// gitDirs hold HEAD, the index, the reflog and the branches.
func (w *watch) gitDirs() []string {
	dirs := []string{w.tree.gitDir, filepath.Join(w.tree.gitDir, "logs"), w.tree.commonDir}
	dir := filepath.Join(w.tree.commonDir, "refs", "heads")
	for _, part := range append([]string{""}, strings.Split(path.Dir(w.tree.options.Branch), "/")...) {
		dir = filepath.Join(dir, part)
		dirs = append(dirs, dir)
	}
	return dirs
}

// ignored returns the directories that git ignores as a whole.
func (w *watch) ignored(ctx context.Context) (map[string]bool, error) {
	list, err := w.tree.git.list(ctx, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
	if err != nil {
		return nil, err
	}
	ignored := map[string]bool{}
	for _, name := range list {
		if dir, ok := strings.CutSuffix(name, "/"); ok {
			ignored[filepath.Join(w.tree.options.Root, filepath.FromSlash(dir))] = true
		}
	}
	return ignored, nil
}
