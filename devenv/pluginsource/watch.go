// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginsource

import (
	"context"
	"errors"
	"fmt"
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
	// settle is how long nothing may have changed before a build: editors save in several steps.
	settle = 50 * time.Millisecond
	// maxDirs bounds the watched directories: each takes a place in a table of the kernel.
	maxDirs = 2_000
)

// errStale ends a build whose sources have changed.
var errStale = errors.New("the sources have changed")

// Run builds at once and after every change until ctx ends, and reports the beginning and the end of each build: began
// is called first, then ended with what Build returned. A build that another change overtakes has no end.
func (s *Source) Run(ctx context.Context, began func(), ended func(took time.Duration, err error)) error {
	dirs := &watched{source: s, files: filewatch.New(filewatch.Options{Most: maxDirs}), known: map[string]bool{}}
	defer dirs.files.Close()
	err := dirs.refresh(ctx)
	if err != nil && dirs.files.Events() == nil {
		return fmt.Errorf("sources of %s: %w; it is not built again", s.Dir, err)
	}
	if err != nil && ctx.Err() == nil {
		s.Logger.Warn("not all sources of a plugin are watched", "error", err)
	}
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
			began()
			building = s.start(ctx)
		case err := <-building.result():
			took := time.Since(building.began)
			building = nil
			switch {
			case changed: // the next build is due
			case err == nil:
				s.status(config.BuildDone, nil)
			default:
				s.status(config.BuildFailed, err)
			}
			ended(took, err)
			if err := dirs.refresh(ctx); err != nil && ctx.Err() == nil { // there may be new imports
				s.Logger.Debug("not all sources of a plugin are watched", "error", err)
			}
		}
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
}

// refresh adds what the program has begun to use. What it no longer uses costs a build at worst.
func (w *watched) refresh(ctx context.Context) error {
	dirs, listed := w.source.directories(ctx)
	if listed != nil {
		dirs = []string{w.source.Dir}
	}
	for _, dir := range dirs {
		w.known[dir] = true
	}
	// The directory above reports the return of one that was moved away or replaced.
	return errors.Join(listed, w.files.Watch(slices.Values(append(dirs, filepath.Dir(w.source.Dir)))))
}

// concerns reports whether an event may change the program.
func (w *watched) concerns(event fsnotify.Event) bool {
	inside := w.known[filepath.Dir(event.Name)]
	return event.Name == w.source.Dir || inside && matters(event)
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
