// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/pipedeck/pipedeck/tui/page"
)

// Share serves people who watch. Its methods may be called from any goroutine; those of a nil Share do nothing.
type Share struct {
	stop    context.CancelFunc
	serving sync.WaitGroup
	web     *page.Server
	shared  []Address
}

// Address is one way to watch.
type Address struct {
	// Part names it as components are named: web.
	Part string
	// Text is what a watcher needs: the address with the token in its fragment.
	Text string
	// Notes say more, a line each, such as the fingerprint of the certificate and who can watch.
	Notes []string
}

// Addresses are the ways to watch.
func (s *Share) Addresses() []Address {
	if s == nil {
		return nil
	}
	return s.shared
}

// Watching is how many watch at present. changed is closed when that changes; nil when nothing is served.
func (s *Share) Watching() (count int, changed <-chan struct{}) {
	if s == nil || s.web == nil {
		return 0, nil
	}
	return s.web.Watching()
}

// Tell shows watchers the caption of a story.
func (s *Share) Tell(story page.Story) {
	if s != nil && s.web != nil {
		s.web.Tell(story)
	}
}

// Print writes the addresses, a line each with its notes below; line completes each line, such as by the time.
func (s *Share) Print(out io.Writer, line func(part, text string) string) {
	for _, a := range s.Addresses() {
		for _, text := range append([]string{a.Text}, a.Notes...) {
			fmt.Fprintln(out, line(a.Part, text)) // output that ends is no reason to end
		}
	}
}

// Close ends what is served and returns when nothing of it runs any more.
func (s *Share) Close() {
	if s == nil {
		return
	}
	s.stop()
	s.serving.Wait()
}
