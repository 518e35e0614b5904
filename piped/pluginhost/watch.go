// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"log/slog"
	"net/url"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/system/exhaustion"
	"github.com/pipedeck/pipedeck/system/filewatch"
)

// settle is how long nothing may have changed before a binary is looked at: compilers and copies write it in
// pieces. One that is looked at too early does not start, and is looked at again after the next piece.
const settle = 50 * time.Millisecond

// maxDirs bounds the watched directories, of which a plugin has at most four.
const maxDirs = 1_000

// binaryWatch notifies plugins that the file of their url may have changed.
type binaryWatch struct {
	logger *slog.Logger
	timer  clock.Timer
	files  *filewatch.Watcher
	// plugins by the path of a file that is, or leads to, their binary or its signature, which may come later.
	plugins map[string][]*Plugin
	// builds are the programs by the files that hold the status of their builds; changes is notified of theirs.
	builds  map[string]string
	changes *broadcast
}

// watchBinaries begins to watch, before the plugins read their binaries for the first time.
func (h *Host) watchBinaries() *binaryWatch {
	w := &binaryWatch{
		logger: h.options.Logger, timer: h.options.Clock, files: filewatch.New(filewatch.Options{Most: maxDirs}),
		plugins: map[string][]*Plugin{}, builds: map[string]string{}, changes: h.changes,
	}
	for _, p := range h.plugins {
		paths := binaryPaths(p.config.URL)
		if len(paths) > 0 {
			w.builds[config.BuildStatusFile(paths[0])] = paths[0]
		}
		if len(paths) > 0 && p.config.Signature != nil {
			paths = append(paths, binaryPaths(fetch.SignatureURL(p.config))...)
		}
		for _, path := range paths {
			// The directory: compilers replace files.
			if err := w.files.Add(filepath.Dir(path)); err != nil {
				w.unwatched(p, err)
				continue
			}
			w.plugins[path] = append(w.plugins[path], p)
			p.supervisor.watched.Store(true)
		}
	}
	return w
}

// unwatched logs that a change of a plugin's binary will not be noticed.
func (w *binaryWatch) unwatched(p *Plugin, err error) {
	advice := exhaustion.WatchAdvice(err)
	if advice == "" {
		w.logger.Debug("a plugin's binary cannot be watched", "plugin", p.Name(), "error", err)
		return
	}
	w.logger.Warn("a plugin's binary cannot be watched: restart the plugin after a change",
		"plugin", p.Name(), "error", err, "next step", advice)
}

// binaryPaths are the files that a file url names: the path itself, and where a symbolic link leads.
func binaryPaths(address string) []string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "file" {
		return nil
	}
	paths := []string{filepath.Clean(u.Path)}
	if target, err := filepath.EvalSymlinks(u.Path); err == nil && target != paths[0] {
		paths = append(paths, target)
	}
	return paths
}

func (w *binaryWatch) run(ctx context.Context) {
	defer w.files.Close()
	changed := map[*Plugin]bool{} // by whether more than its mode, its owner or its number of names may have
	var due <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-w.files.Events():
			if program := w.builds[event.Name]; program != "" {
				w.changes.notify()
				if config.ReadBuildStatus(program).State == config.BuildDone {
					// Its builder says that it is whole: nothing to wait for.
					for _, p := range w.plugins[program] {
						delete(changed, p)
						signal(p.supervisor.renewed)
					}
				}
			}
			for _, p := range w.plugins[event.Name] {
				changed[p] = changed[p] || event.Op != fsnotify.Chmod
				due = w.timer.After(settle)
			}
		case err := <-w.files.Lost():
			w.logger.Debug("file events were lost", "error", err)
			for _, plugins := range w.plugins {
				for _, p := range plugins {
					changed[p] = true
				}
			}
			due = w.timer.After(settle)
		case <-due:
			for p, content := range changed {
				if content || !p.supervisor.builds.runs() { // piped itself gives programs further names
					signal(p.supervisor.renewed)
				}
			}
			clear(changed)
		}
	}
}
