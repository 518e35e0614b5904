// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hinshun/vt10x"
)

// patience bounds every wait; a machine under load is slow, not wrong.
const patience = time.Minute

// screen is the terminal of a watcher.
type screen struct {
	t *testing.T

	mu            sync.Mutex
	width, height int
	raw           []byte
	// changed is closed and replaced whenever something was written.
	changed chan struct{}
	done    chan struct{}
}

func newScreen(t *testing.T, width, height int) *screen {
	return &screen{t: t, width: width, height: height, changed: make(chan struct{}), done: make(chan struct{})}
}

// Write takes what the server writes.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw = append(s.raw, p...)
	close(s.changed)
	s.changed = make(chan struct{})
	return len(p), nil
}

// read takes all that comes from a terminal.
func (s *screen) read(from io.Reader) { _, _ = io.Copy(s, from) }

// resize changes the size; what was drawn before is forgotten.
func (s *screen) resize(width, height int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.width, s.height, s.raw = width, height, nil
}

// unknown are the sequences that the emulator takes for others.
var unknown = regexp.MustCompile(`\x1b\[[<=>][0-9;]*[a-zA-Z]|\x1b\[\?[0-9;]*\$?[up]`)

func (s *screen) lines() string {
	emulator := vt10x.New(vt10x.WithSize(s.width, s.height))
	_, _ = emulator.Write(unknown.ReplaceAll(bytes.ToValidUTF8(s.raw, nil), nil))
	return emulator.String()
}

// current is what the screen shows now.
func (s *screen) current() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines()
}

// sees waits until the condition holds for the screen.
func (s *screen) sees(what string, condition func(screen string) bool) {
	s.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		s.mu.Lock()
		lines, changed := s.lines(), s.changed
		s.mu.Unlock()
		if condition(lines) {
			return
		}
		select {
		case <-changed:
		case <-deadline.C:
			s.t.Fatalf("never saw %s on:\n%s", what, lines)
		}
	}
}

func (s *screen) seesText(texts ...string) {
	s.t.Helper()
	s.sees(strings.Join(texts, ", "), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}
