// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"context"
	"slices"
	"sync"

	"github.com/pipedeck/pipedeck/tui/app"
	"github.com/pipedeck/pipedeck/tui/view"
)

// maxNews bounds the lines that wait for the UI, which shows the last one. More are dropped.
const maxNews = 16

// news are who came and who left.
type news struct {
	lines chan string

	mu sync.Mutex
	// report gets the lines instead; password is the one that it knows.
	report   func(part, line string)
	password string
}

// Report sends who comes and who goes, and each new password, to report instead of the UI. Only one goroutine at a time
// calls report.
func (s *Share) Report(report func(part, line string)) {
	if s == nil {
		return
	}
	s.news.mu.Lock()
	defer s.news.mu.Unlock()
	s.news.report = report
	if s.ssh != nil {
		s.news.password = s.ssh.Password()
	}
}

// say is about a watcher over SSH.
func (s *Share) say(line string) { s.sayOf("ssh", line) }

func (s *Share) sayOf(part, line string) {
	n := &s.news
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.report == nil {
		select {
		case n.lines <- line:
		default: // the UI has not shown those before
		}
		return
	}
	n.report(part, line)
	if s.ssh != nil && s.ssh.Password() != n.password {
		n.password = s.ssh.Password()
		n.report("ssh", "the next one-time password: "+n.password)
	}
}

// countPage says how many watch the page, whenever that changes, until ctx ends.
func (s *Share) countPage(ctx context.Context) {
	last := 0
	for {
		count, changed := s.web.Watching()
		if count != last {
			s.sayOf("web", view.WatchingWords(count))
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
				way := app.Way{Name: a.Name, Text: a.Text, Code: a.Code, Notes: a.Notes}
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
