// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hinshun/vt10x"
)

// patience bounds every wait; a machine under load is slow, not wrong.
const patience = time.Minute

// screen is the terminal of a watcher.
type screen struct {
	t        *testing.T
	emulator vt10x.Terminal

	mu sync.Mutex
	// rest is the start of a sequence or a character whose end is to come.
	rest []byte
	// changed is closed and replaced whenever something was written.
	changed chan struct{}
}

func newScreen(t *testing.T, width, height int) *screen {
	return &screen{t: t, emulator: vt10x.New(vt10x.WithSize(width, height)), changed: make(chan struct{})}
}

var (
	// unknown are the sequences that the emulator takes for others.
	unknown = regexp.MustCompile(`\x1b\[[<=>][0-9;]*[a-zA-Z]|\x1b\[\?[0-9;]*\$?[up]`)
	// begun is a sequence of which the end is missing.
	begun = regexp.MustCompile(`\x1b(\[[<=>?0-9;$]*)?$`)
)

// Write takes what the server writes.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := append(s.rest, p...)
	end := len(all)
	if at := begun.FindIndex(all); at != nil {
		end = at[0]
	}
	for back := 1; back <= min(end, utf8.UTFMax); back++ {
		if utf8.RuneStart(all[end-back]) {
			if !utf8.FullRune(all[end-back : end]) {
				end -= back
			}
			break
		}
	}
	_, _ = s.emulator.Write(unknown.ReplaceAll(all[:end], nil))
	s.rest = slices.Clone(all[end:])
	close(s.changed)
	s.changed = make(chan struct{})
	return len(p), nil
}

// read takes all that comes from a terminal.
func (s *screen) read(from io.Reader) { _, _ = io.Copy(s, from) }

// resize changes the size.
func (s *screen) resize(width, height int) { s.emulator.Resize(width, height) }

// current is what the screen shows now.
func (s *screen) current() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.emulator.String()
}

// sees waits until the condition holds for the screen.
func (s *screen) sees(what string, condition func(screen string) bool) {
	s.t.Helper()
	if !s.seesWithin(patience, condition) {
		s.t.Fatalf("never saw %s on:\n%s", what, s.current())
	}
}

// seesWithin waits until the condition holds for the screen, at most so long, and reports whether it does.
func (s *screen) seesWithin(limit time.Duration, condition func(screen string) bool) bool {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	for {
		s.mu.Lock()
		lines, changed := s.emulator.String(), s.changed
		s.mu.Unlock()
		if condition(lines) {
			return true
		}
		select {
		case <-changed:
		case <-deadline.C:
			return false
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
