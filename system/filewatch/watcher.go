// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package filewatch

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"github.com/fsnotify/fsnotify"
)

// ErrTooMany is the error of a path beyond the bound of the watcher.
var ErrTooMany = errors.New("too many directories to watch")

// Options say what a Watcher needs.
type Options struct {
	// Most bounds the watched paths.
	Most int
	// Report is called by Watch with the reason why the system refuses to watch, when the reason changes, and with nil
	// when the system watches again. Nil ignores the reasons.
	Report func(error)
	// Open replaces fsnotify.NewWatcher in tests.
	Open func() (*fsnotify.Watcher, error)
}

// Watcher watches paths. It asks the system for its watcher with the first path. Its methods are for one goroutine.
type Watcher struct {
	options Options
	// system is nil while the system gives no watcher.
	system *fsnotify.Watcher
	// problem is the reason that was reported last.
	problem string
}

// New returns a watcher without paths. Close it.
func New(options Options) *Watcher {
	if options.Open == nil {
		options.Open = fsnotify.NewWatcher
	}
	return &Watcher{options: options}
}

// Check reports whether the system gives one more watcher.
func Check() error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	return watcher.Close()
}

// Events is the channel of changes. It is nil, and never ready, before the first path is watched.
func (w *Watcher) Events() <-chan fsnotify.Event {
	if w.system == nil {
		return nil
	}
	return w.system.Events
}

// Lost receives an error when events are missing: everything that is watched may have changed.
func (w *Watcher) Lost() <-chan error {
	if w.system == nil {
		return nil
	}
	return w.system.Errors
}

// Paths returns what is watched. A path that was removed or renamed is not watched any more.
func (w *Watcher) Paths() []string {
	if w.system == nil {
		return nil
	}
	return w.system.WatchList()
}

// Add watches a path. It is harmless for a watched one, and needed after the path was removed and created again.
func (w *Watcher) Add(path string) error {
	if err := w.open(); err != nil {
		return err
	}
	return w.add(path, w.known())
}

// Watch watches paths besides those that are watched already, as Add does. It skips paths that do not exist and stops
// at the first one that the system refuses, or that is beyond the bound; then some paths are not watched.
func (w *Watcher) Watch(paths iter.Seq[string]) error {
	err := w.watch(paths)
	refused := err
	if errors.Is(err, ErrTooMany) {
		refused = nil
	}
	w.report(refused)
	return err
}

func (w *Watcher) watch(paths iter.Seq[string]) error {
	if err := w.open(); err != nil {
		return err
	}
	known := w.known()
	for path := range paths {
		if err := w.add(path, known); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (w *Watcher) open() error {
	if w.system != nil {
		return nil
	}
	system, err := w.options.Open()
	if err != nil {
		return fmt.Errorf("watch files: %w", err)
	}
	w.system = system
	return nil
}

// known are the watched paths.
func (w *Watcher) known() map[string]bool {
	known := map[string]bool{}
	for _, path := range w.system.WatchList() {
		known[path] = true
	}
	return known
}

func (w *Watcher) add(path string, known map[string]bool) error {
	if !known[path] && len(known) >= w.options.Most {
		return fmt.Errorf("watch %s: %w", path, ErrTooMany)
	}
	if err := w.system.Add(path); err != nil {
		return fmt.Errorf("watch %s: %w", path, err)
	}
	known[path] = true
	return nil
}

func (w *Watcher) report(err error) {
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	if problem == w.problem {
		return
	}
	w.problem = problem
	if w.options.Report != nil {
		w.options.Report(err)
	}
}

// Close ends all watches.
func (w *Watcher) Close() error {
	if w.system == nil {
		return nil
	}
	return w.system.Close()
}
