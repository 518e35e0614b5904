// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"time"
)

const (
	// maxLine bounds one event, in bytes.
	maxLine = 1 << 20
	// maxWaiting bounds the events that the program has printed and the caller has not read.
	maxWaiting = 1024
)

// Event is one line of --output json and the moment of its arrival.
type Event struct {
	At     time.Time
	Fields map[string]any
}

// Text returns a field; empty when it is missing or no text.
func (e Event) Text(field string) string {
	s, _ := e.Fields[field].(string)
	return s
}

// Time returns a time in a field; zero when it is missing.
func (e Event) Time(field string) time.Time {
	at, _ := time.Parse(time.RFC3339Nano, e.Text(field))
	return at
}

// Is reports whether an event has a type and, in pairs of a name and a text, fields.
func (e Event) Is(kind string, fields ...string) bool {
	if e.Text("type") != kind {
		return false
	}
	for i := 0; i < len(fields); i += 2 {
		if e.Text(fields[i]) != fields[i+1] {
			return false
		}
	}
	return true
}

// Open starts a prepared command that has the flags --output json. The channel gets its events, and is closed after the
// last one; then the caller waits for the command. A line that is not JSON comes as an event of the type "not json".
func Open(cmd *exec.Cmd) (<-chan Event, error) {
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	events := make(chan Event, maxWaiting)
	go func() {
		defer close(events)
		lines := bufio.NewScanner(stdout)
		lines.Buffer(nil, maxLine)
		for lines.Scan() {
			e := Event{At: time.Now()}
			if json.Unmarshal(lines.Bytes(), &e.Fields) != nil {
				e.Fields = map[string]any{"type": "not json", "line": lines.Text()}
			}
			events <- e
		}
	}()
	return events, nil
}
