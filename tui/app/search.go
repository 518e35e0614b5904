// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/pipedeck/pipedeck/tui/logbuf"
	"github.com/pipedeck/pipedeck/tui/text"
)

// foundMsg is the outcome of a search.
type foundMsg struct {
	log   *stageLog
	query logbuf.Query
	line  int
	found bool
}

// maxQuery bounds what can be typed, in bytes.
const maxQuery = 200

// startSearch opens the line to type in.
func (p *logPane) startSearch() {
	empty := ""
	p.view.Search.Typing, p.view.Search.Notice = &empty, ""
}

// typing reports whether a search is being typed.
func (p *logPane) typing() bool { return p.view.Search.Typing != nil }

// stopTyping drops what was typed.
func (p *logPane) stopTyping() { p.view.Search.Typing = nil }

// searched reports whether there is a search to end.
func (p *logPane) searched() bool { return p.view.Search.Query != "" || p.view.Search.Notice != "" }

// endSearch removes the marks of the last search.
func (p *logPane) endSearch() { p.view.Search.Query, p.view.Search.Notice = "", "" }

// typeKey takes a key while a search is typed.
func (p *logPane) typeKey(key tea.KeyPressMsg) tea.Cmd {
	typed := *p.view.Search.Typing
	switch key.Keystroke() {
	case "esc":
		p.view.Search.Typing = nil
	case "enter":
		p.view.Search.Typing = nil
		p.view.Search.Query = logbuf.Query(typed)
		if typed != "" {
			return p.search(p.view.Place(), true)
		}
	case "backspace":
		if typed == "" {
			p.view.Search.Typing = nil
			break
		}
		_, size := utf8.DecodeLastRuneInString(typed)
		typed = typed[:len(typed)-size]
		p.view.Search.Typing = &typed
	case "ctrl+u":
		typed = ""
		p.view.Search.Typing = &typed
	default:
		p.typeText(key.Text)
	}
	return nil
}

// typeText adds to the search that is being typed, if one is.
func (p *logPane) typeText(more string) {
	if p.view.Search.Typing == nil {
		return
	}
	if typed := *p.view.Search.Typing + text.Line(more); len(typed) <= maxQuery {
		p.view.Search.Typing = &typed
	}
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
