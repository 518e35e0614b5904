// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/pipedeck/pipedeck/tui/app"
	"github.com/pipedeck/pipedeck/tui/view"
)

// maxNews bounds the lines that wait: for the UI, which shows the last one, or for output that is stuck. More are
// dropped.
const maxNews = 16

// news are who came and who left.
type news struct {
	// lines are for the UI, said for what reports in its place.
	lines    chan string
	said     chan saying
	reported atomic.Bool
	// ended is closed when nothing is served any more.
	ended <-chan struct{}
}

// saying is a line about what others watch: web or ssh.
type saying struct{ part, line string }

func newNews(ended <-chan struct{}) news {
	return news{lines: make(chan string, maxNews), said: make(chan saying, maxNews), ended: ended}
}

// Report sends who comes and who goes, and each new password, to report instead of the UI, until Close. Only one
// goroutine calls report, which may block: watchers do not wait for it. It is called once, before Close.
func (s *Share) Report(report func(part, line string)) {
	if s == nil {
		return
	}
	password := s.password()
	s.news.reported.Store(true)
	s.serving.Go(func() { s.report(report, password) })
}

// report reports each line, and the next password where the known one has been used.
func (s *Share) report(report func(part, line string), known string) {
	for {
		var said saying
		select {
		case said = <-s.news.said:
		case <-s.news.ended:
			return
		}
		report(said.part, said.line)
		if next := s.password(); next != known {
			known = next
			report("ssh", "the next one-time password: "+next)
		}
	}
}

// password is the present one-time password; empty without SSH.
func (s *Share) password() string {
	if s.ssh == nil {
		return ""
	}
	return s.ssh.Password()
}

// say is about a watcher over SSH.
func (s *Share) say(line string) { s.sayOf("ssh", line) }

func (s *Share) sayOf(part, line string) {
	if s.news.reported.Load() {
		select {
		case s.news.said <- saying{part, line}:
		default: // output is stuck
		}
		return
	}
	select {
	case s.news.lines <- line:
	default: // the UI has not shown those before
	}
}

// countPage says how many watch, over SSH too, whenever the number of those of the page changes, until ctx ends.
func (s *Share) countPage(ctx context.Context) {
	last := 0
	for {
		count, changed := s.web.Watching()
		if count != last {
			s.sayOf("web", view.WatchingWords(s.Watching()))
		}
		last = count
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// UI is what the terminal UI shows of it.
func (s *Share) UI() *app.Share {
	if s == nil {
		return nil
	}
	return &app.Share{
		Watchers: s.Watching, News: s.news.lines,
		Ways: func() (ways []app.Way) {
			for _, a := range s.Addresses() {
				way := app.Way{Name: a.Name, Text: a.Text, Shown: a.Shown(), Code: a.Code, Notes: a.Notes}
				if a.Local { // whoever scans the code with a phone would only see that it does not work
					way.Notes = append(slices.Clone(a.Notes), "reached from this machine alone; phones and other "+
						"machines need --serve-"+a.Part+"=HOST:PORT")
				}
				ways = append(ways, way)
			}
			return ways
		},
	}
}
