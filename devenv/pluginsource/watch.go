// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginsource

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/filewatch"
)

const (
	// settle is how long nothing may have changed before a build: editors save in several steps. A step that comes
	// later costs the build that has begun, and nothing else.
	settle = 10 * time.Millisecond
	// maxDirs bounds the watched directories: each takes a place in a table of the kernel.
	maxDirs = 2_000
	// coarse is how far the time of a file may be behind the clock: kernels take it from their last tick.
	coarse = 20 * time.Millisecond
)

// errStale ends a build whose sources have changed.
var errStale = errors.New("the sources have changed")

// Run builds at once and after every change until ctx ends, and reports the beginning and the end of each build: began
// is called first, then ended with what Build returned. A build that another change overtakes has no end.
func (s *Source) Run(ctx context.Context, began func(), ended func(took time.Duration, err error)) error {
	dirs := &watched{source: s, files: filewatch.New(filewatch.Options{Most: maxDirs}), known: map[string]bool{}}
	defer dirs.files.Close()
	_, err := dirs.refresh(ctx)
	if err != nil && dirs.files.Events() == nil {
		return fmt.Errorf("sources of %s: %w; it is not built again", s.Dir, err)
	}
	s.unwatched(ctx, slog.LevelWarn, err)
	due := time.NewTimer(0)
	defer due.Stop()
	var building *build
	changed := false // since the build that is under way began
	change := func() {
		if !changed {
			s.status(config.BuildRunning, nil)
		}
		changed = true
		due.Reset(settle)
	}
	s.status(config.BuildRunning, nil)
	defer func() { _ = os.Remove(config.BuildStatusFile(s.Program)) }()
	for {
		select {
		case <-ctx.Done():
			building.stop()
			return nil
		case event := <-dirs.files.Events():
			if dirs.concerns(event) {
				change()
			}
		case err := <-dirs.files.Lost():
			s.Logger.Debug("file events were lost", "error", err)
			change()
		case <-due.C:
			changed = false
			building.stop()
			// Before the build reads the files: one that is saved while it runs has to be an event.
			s.unwatched(ctx, slog.LevelDebug, dirs.watchAgain())
			began()
			building = s.start(ctx)
		case err := <-building.result():
			start := building.began
			building = nil
			if !changed { // else the next build is due
				s.result(err)
			}
			ended(time.Since(start), err)
			usedC := s.usesC
			added, err := dirs.refresh(ctx) // there may be new imports
			s.unwatched(ctx, slog.LevelDebug, err)
			written := func(dir string) bool { return dirs.writtenSince(dir, start) }
			if s.usesC != usedC || slices.ContainsFunc(added, written) {
				change()
			}
		}
	}
}

func (s *Source) result(err error) {
	if err != nil {
		s.status(config.BuildFailed, err)
		return
	}
	s.status(config.BuildDone, nil)
}

func (s *Source) unwatched(ctx context.Context, level slog.Level, err error) {
	if err != nil && ctx.Err() == nil {
		s.Logger.Log(ctx, level, "not all sources of a plugin are watched", "error", err)
	}
}

// status says to piped whether the program is that of the sources, so that a deployment does not run the one before.
func (s *Source) status(state config.BuildState, reason error) {
	status := config.BuildStatus{State: state}
	if reason != nil {
		status.Reason = reason.Error()
	}
	var broken *CompileError
	if errors.As(reason, &broken) {
		status.Reason = broken.Output
	}
	if err := config.WriteBuildStatus(s.Program, status); err != nil {
		s.Logger.Warn("cannot report the build of a plugin to piped: a deployment may run the program from before",
			"error", err)
	}
}

// build is one that is under way. A nil one has no result and ends at once.
type build struct {
	began  time.Time
	done   chan error
	cancel context.CancelCauseFunc
}

func (s *Source) start(ctx context.Context) *build {
	ctx, cancel := context.WithCancelCause(ctx)
	b := &build{began: time.Now(), done: make(chan error, 1), cancel: cancel}
	go func() {
		defer cancel(nil)
		b.done <- s.Build(ctx)
	}()
	return b
}

func (b *build) result() <-chan error {
	if b == nil {
		return nil
	}
	return b.done
}

func (b *build) stop() {
	if b == nil {
		return
	}
	b.cancel(errStale)
	<-b.done
}

// watched are the directories that events come from.
type watched struct {
	source *Source
	files  *filewatch.Watcher
	known  map[string]bool // those of the program, which may be away
	recipe *recipe         // the last one that could be read; nil for a Go package
}

// refresh adds the directories that the program has begun to use, and returns them: a file in them that was saved
// before is no event. What the program no longer uses costs a build at worst.
func (w *watched) refresh(ctx context.Context) (added []string, err error) {
	dirs, listed := w.directories(ctx)
	if listed != nil {
		dirs = []string{w.source.Dir}
	}
	for _, dir := range dirs {
		if !w.known[dir] {
			w.known[dir] = true
			added = append(added, dir)
		}
	}
	return added, errors.Join(listed, w.watchAgain())
}

// directories are those of the recipe, which a user may have written or removed meanwhile, or those of a Go package.
func (w *watched) directories(ctx context.Context) ([]string, error) {
	if r, err := w.source.recipe(); err == nil { // the build reports the error
		w.recipe = r
	}
	if w.recipe != nil {
		return w.recipe.directories(w.source.Dir)
	}
	return w.source.directories(ctx)
}

// watchAgain watches the known directories also after they were away.
func (w *watched) watchAgain() error {
	// The directory above reports the return of one that was moved away or replaced.
	above := filepath.Dir(w.source.Dir)
	return w.files.Watch(func(yield func(string) bool) {
		if !yield(above) {
			return
		}
		maps.Keys(w.known)(yield)
	})
}

// writtenSince reports whether a file of the program in a directory may be newer than a time.
func (w *watched) writtenSince(dir string, start time.Time) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return true // the build will say why
	}
	return slices.ContainsFunc(entries, func(entry fs.DirEntry) bool {
		info, err := entry.Info()
		return err == nil && !info.IsDir() && info.ModTime().After(start.Add(-coarse)) &&
			(w.recipe == nil || w.isSource(filepath.Join(dir, entry.Name())))
	})
}

// isSource reports whether the recipe watches a file.
func (w *watched) isSource(path string) bool {
	name, err := filepath.Rel(w.source.Dir, path)
	return err == nil && w.recipe.watches(filepath.ToSlash(name))
}

// concerns reports whether an event may change the program.
func (w *watched) concerns(event fsnotify.Event) bool {
	if event.Name == w.source.Dir {
		return true
	}
	if !w.known[filepath.Dir(event.Name)] || !matters(event) {
		return false
	}
	if w.recipe == nil {
		return true
	}
	if info, err := os.Lstat(event.Name); err == nil && info.IsDir() {
		return event.Has(fsnotify.Create) && w.gains(event.Name)
	}
	return w.isSource(event.Name)
}

// gains watches a directory that is new below that of a recipe. It reports whether there are files of the program in
// it already, which are no events. A build that makes a directory for its output is no reason to build again.
func (w *watched) gains(dir string) (sources bool) {
	if w.recipe.skips(filepath.Base(dir)) {
		return false
	}
	_ = w.recipe.walk(dir, func(name string, entry fs.DirEntry) error {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if entry.IsDir() {
			w.known[path] = true
			return w.files.Add(path) // the next build reports one that is not watched
		}
		sources = sources || w.isSource(path)
		return nil
	})
	return sources
}

// leftOut are files that a program is not made of.
var leftOut = []string{"*_test.go", "*~", ".*", "#*#", "*.swp", "*.swx", "*.tmp", "4913"}

func matters(event fsnotify.Event) bool {
	if event.Op == fsnotify.Chmod {
		return false
	}
	name := filepath.Base(event.Name)
	for _, pattern := range leftOut {
		if matched, _ := path.Match(pattern, name); matched {
			return false
		}
	}
	return !strings.HasPrefix(name, "___go_build_") // of an editor
}
