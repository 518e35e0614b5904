// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/pipedeck/pipedeck/tui/logbuf"
)

// foundMsg is the outcome of a search.
type foundMsg struct {
	log   *stageLog
	query logbuf.Query
	line  int
	found bool
}

// endSearch removes the marks of the last search.
func (p *logPane) endSearch() { p.view.Search.Query, p.view.Search.Notice = "", "" }

// startSearch looks for what was typed.
func (p *logPane) startSearch() tea.Cmd {
	p.view.Search.Query = logbuf.Query(p.look.query)
	if p.look.query == "" {
		p.view.Search.Notice = ""
		return nil
	}
	return p.search(p.view.Place(), true)
}

// search looks for the query in the background; a log can be long.
func (p *logPane) search(from int, forward bool) tea.Cmd {
	if p.view.Search.Query == "" || p.reader == nil {
		p.view.Search.Notice = "nothing to search for: press / first"
		return nil
	}
	reader, query := p.reader, p.view.Search.Query
	return p.host.work.do(func(ctx context.Context) tea.Msg {
		line, found := reader.buffer.Find(ctx, query, from, forward)
		return foundMsg{log: reader, query: query, line: line, found: found}
	})
}

func (p *logPane) found(msg foundMsg) {
	if msg.log != p.reader || msg.query != p.view.Search.Query {
		return
	}
	if !msg.found {
		p.view.Search.Notice = "not found: " + string(msg.query)
		return
	}
	p.view.Search.Notice = "n next, N previous: " + string(msg.query)
	p.hit = msg.line
	p.hold()
	p.view.Show(msg.line)
}

// searchNext goes on from the last hit.
func (p *logPane) searchNext(forward bool) tea.Cmd {
	if forward {
		return p.search(p.hit+1, true)
	}
	if p.hit == 0 {
		_, next := p.reader.span()
		return p.search(next, false)
	}
	return p.search(p.hit-1, false)
}

func (l *stageLog) span() (first, next int) {
	if l == nil {
		return 0, 0
	}
	return l.buffer.Span()
}
