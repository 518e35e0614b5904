// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"context"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
	"k8s.io/klog/v2"
)

// pollLog is how often a log is looked at on a machine that has no watch left to give.
const pollLog = 500 * time.Millisecond

// logWatch reports that a log may have changed.
type logWatch struct {
	watcher *fsnotify.Watcher
}

// watchLog watches the directory of a log, where files are renamed. Without a watch the log is looked at from time to
// time.
func watchLog(path string) *logWatch {
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		if err = watcher.Add(filepath.Dir(path)); err == nil {
			return &logWatch{watcher}
		}
		_ = watcher.Close()
	}
	klog.V(1).InfoS("Cannot watch a log, looking at it from time to time instead", "file", path, "error", err)
	return &logWatch{}
}

// wait returns when the log may have changed, when done is closed, or when ctx ends.
func (w *logWatch) wait(ctx context.Context, done <-chan struct{}) {
	if w.watcher == nil {
		timer := time.NewTimer(pollLog)
		defer timer.Stop()
		select {
		case <-ctx.Done():
		case <-done:
		case <-timer.C:
		}
		return
	}
	select {
	case <-ctx.Done():
	case <-done:
	case <-w.watcher.Events:
	case <-w.watcher.Errors: // as when there were too many changes at once
	}
}

func (w *logWatch) close() {
	if w.watcher != nil {
		_ = w.watcher.Close()
	}
}
