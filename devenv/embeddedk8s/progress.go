// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"io"
	"sync"
	"time"
)

// line is one line of standard output.
type line struct {
	Event  string `json:"event"`
	Ms     int64  `json:"ms"` // since the process was started
	Server string `json:"server,omitempty"`
	Error  string `json:"error,omitempty"`
}

// progress writes events as JSON lines. A reader that has gone away is no failure: what is written then is lost.
type progress struct {
	start time.Time
	now   func() time.Time

	mu      sync.Mutex
	encoder *json.Encoder
}

func newProgress(out io.Writer, start time.Time, now func() time.Time) *progress {
	return &progress{start: start, now: now, encoder: json.NewEncoder(out)}
}

func (p *progress) report(event, server string) {
	p.write(line{Event: event, Server: server})
}

func (p *progress) fail(err error) {
	p.write(line{Event: "error", Error: err.Error()})
}

func (p *progress) write(line line) {
	line.Ms = p.now().Sub(p.start).Milliseconds()
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.encoder.Encode(line)
}
