// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/grpc/status"

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
func (m *model) startSearch() {
	empty := ""
	m.log.Typing, m.log.Notice = &empty, ""
}

// typeKey takes a key while a search is typed.
func (m *model) typeKey(key tea.KeyPressMsg) tea.Cmd {
	typed := *m.log.Typing
	switch key.Keystroke() {
	case "esc":
		m.log.Typing = nil
	case "enter":
		m.log.Typing = nil
		m.log.Query = logbuf.Query(typed)
		if typed != "" {
			return m.search(m.log.Place(), true)
		}
	case "backspace":
		if typed == "" {
			m.log.Typing = nil
			break
		}
		_, size := utf8.DecodeLastRuneInString(typed)
		typed = typed[:len(typed)-size]
		m.log.Typing = &typed
	case "ctrl+u":
		typed = ""
		m.log.Typing = &typed
	default:
		m.typeText(key.Text)
	}
	return nil
}

// typeText adds to the search that is being typed, if one is.
func (m *model) typeText(more string) {
	if m.log.Typing == nil {
		return
	}
	if typed := *m.log.Typing + text.Line(more); len(typed) <= maxQuery {
		m.log.Typing = &typed
	}
}

// search looks for the query in the background; a log can be long.
func (m *model) search(from int, forward bool) tea.Cmd {
	if m.log.Query == "" || m.reader == nil {
		m.log.Notice = "nothing to search for: press / first"
		return nil
	}
	reader, query := m.reader, m.log.Query
	return m.work.do(func(ctx context.Context) tea.Msg {
		line, found := reader.buffer.Find(ctx, query, from, forward)
		return foundMsg{log: reader, query: query, line: line, found: found}
	})
}

func (m *model) found(msg foundMsg) {
	if msg.log != m.reader || msg.query != m.log.Query {
		return
	}
	if !msg.found {
		m.log.Notice = "not found: " + string(msg.query)
		return
	}
	m.log.Notice = "n next, N previous: " + string(msg.query)
	m.hit = msg.line
	m.log.Show(msg.line)
}

// searchNext goes on from the last hit.
func (m *model) searchNext(forward bool) tea.Cmd {
	if forward {
		return m.search(m.hit+1, true)
	}
	if m.hit == 0 {
		_, next := m.reader.span()
		return m.search(next, false)
	}
	return m.search(m.hit-1, false)
}

func (l *stageLog) span() (first, next int) {
	if l == nil {
		return 0, 0
	}
	return l.buffer.Span()
}

// plain is the message of an error without the decoration of gRPC.
func plain(err error) string { return text.Line(status.Convert(err).Message()) }
