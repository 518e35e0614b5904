// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"
)

// Keys of stage metadata that only pipedeck's UIs know; others show them, if at all, as they are.
const (
	// ProgressMetadataKey holds a Progress as JSON: {"done": 3, "total": 10, "text": "pods are ready"}.
	ProgressMetadataKey = "pipedeck/progress"
	// TargetsMetadataKey holds a list of TargetResult as JSON: [{"name": "east", "status": "FAILURE", "detail": "…"}].
	TargetsMetadataKey = "pipedeck/targets"
)

const (
	// reportEvery is the pause between two reports of a stage's progress: each is a call to the control plane.
	reportEvery = 500 * time.Millisecond
	// reportLimit bounds one report. The end of a stage may wait for two: one that is under way, and the last one.
	reportLimit = 2 * time.Second
	// maxReportText bounds the texts in bytes, maxReportedTargets the list.
	maxReportText      = 256
	maxReportedTargets = 100
)

// Progress is how far the work of a stage is.
type Progress struct {
	// Done and Total are in any unit; Total is 0 when it is not known. For a percentage, Total is 100.
	Done  int64 `json:"done"`
	Total int64 `json:"total,omitempty"`
	// Text says in a few words what is being done or waited for.
	Text string `json:"text,omitempty"`
}

// String is the progress as UIs that do not know it show it: "3 of 10: pods are ready".
func (p Progress) String() string {
	var parts []string
	switch {
	case p.Total == 100:
		parts = append(parts, fmt.Sprintf("%d%%", p.Done))
	case p.Total > 0:
		parts = append(parts, fmt.Sprintf("%d of %d", p.Done, p.Total))
	case p.Done > 0:
		parts = append(parts, fmt.Sprint(p.Done))
	}
	if p.Text != "" {
		parts = append(parts, p.Text)
	}
	return strings.Join(parts, ": ")
}

// TargetResult is how the work of a stage goes at one deploy target.
type TargetResult struct {
	Name string `json:"name"`
	// Status is NOT_STARTED, RUNNING, SUCCESS, FAILURE or CANCELLED.
	Status string `json:"status"`
	// Detail is why it failed, in one line.
	Detail string `json:"detail,omitempty"`
}

// clip makes a text one short line.
func clip(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if len(text) > maxReportText {
		text = strings.ToValidUTF8(text[:maxReportText], "") + "…"
	}
	return text
}

// reports sends what a stage reports itself, at a bounded rate. The goroutine that sends begins with the first report
// and ends with close.
type reports struct {
	send   func(context.Context, map[string]string) error
	logger *slog.Logger

	mu      sync.Mutex
	pending map[string]string
	// displayed is set when the plugin shows its own text, which progress must not replace.
	displayed bool
	closed    bool
	wake      chan struct{}
	stop      chan struct{}
	sending   sync.WaitGroup
}

func newReports(send func(context.Context, map[string]string) error, logger *slog.Logger) *reports {
	return &reports{send: send, logger: logger, pending: map[string]string{}}
}

// put has a value sent soon, with a text for other UIs unless that is empty.
func (r *reports) put(key string, value any, display string) {
	data, err := json.Marshal(value)
	if err != nil {
		return // it holds texts and numbers only
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.pending[key] = string(data)
	if display != "" && !r.displayed {
		r.pending[DisplayMetadataKey] = display
	}
	if r.wake == nil {
		r.wake, r.stop = make(chan struct{}, 1), make(chan struct{})
		r.sending.Go(r.run)
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// own notes that the plugin shows a text itself.
func (r *reports) own() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.displayed = true
	delete(r.pending, DisplayMetadataKey)
}

// run sends the first report at once and later ones after a pause.
func (r *reports) run() {
	for {
		select {
		case <-r.wake:
		case <-r.stop:
			return
		}
		r.flush()
		pause := time.NewTimer(reportEvery)
		select {
		case <-pause.C:
		case <-r.stop:
			pause.Stop()
			return
		}
	}
}

// flush sends what is pending. A report that cannot be sent is no reason for a stage to fail.
func (r *reports) flush() {
	r.mu.Lock()
	values := maps.Clone(r.pending)
	clear(r.pending)
	r.mu.Unlock()
	if len(values) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), reportLimit)
	defer cancel()
	if err := r.send(ctx, values); err != nil {
		r.logger.Debug("the progress of a stage was not reported", "error", err)
	}
}

// close sends what was reported last and ends the goroutine.
func (r *reports) close() {
	r.mu.Lock()
	r.closed = true
	begun := r.wake != nil
	r.mu.Unlock()
	if begun {
		close(r.stop)
		r.sending.Wait()
		r.flush()
	}
}
