// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// stars stand for a secret.
const stars = "(sensitive value)"

// minSecret is the length from which a text is worth hiding: shorter ones are parts of other words.
const minSecret = 4

// hide replaces secrets.
func hide(text string, secrets []string) string { return replace(text, hidden(secrets)) }

// hidden are the texts to replace, the longest first: a secret may hold another one. The lines of a secret with several
// ones are among them, because logs have lines.
func hidden(secrets []string) []string {
	var list []string
	add := func(text string) {
		if len(text) >= minSecret && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	for _, secret := range secrets {
		add(secret)
		if trimmed := strings.TrimSpace(secret); strings.Contains(trimmed, "\n") {
			for line := range strings.Lines(trimmed) {
				add(strings.TrimSpace(line))
			}
		}
	}
	slices.SortStableFunc(list, func(a, b string) int { return len(b) - len(a) })
	return list
}

func replace(text string, hidden []string) string {
	for _, one := range hidden {
		text = strings.ReplaceAll(text, one, stars)
	}
	return text
}

// maxLine bounds a line that is kept until its end comes, in bytes.
const maxLine = 64 << 10

// mask passes on whole lines without secrets.
type mask struct {
	to     io.Writer
	hidden []string
	rest   []byte
}

func newMask(to io.Writer, secrets []string) *mask {
	if to == nil {
		to = io.Discard
	}
	return &mask{to: to, hidden: hidden(secrets)}
}

func (m *mask) Write(data []byte) (int, error) {
	m.rest = append(m.rest, data...)
	if end := bytes.LastIndexByte(m.rest, '\n') + 1; end > 0 {
		m.pass(m.rest[:end])
		m.rest = append(m.rest[:0], m.rest[end:]...)
	}
	if len(m.rest) > maxLine {
		m.flush()
	}
	return len(data), nil
}

// flush passes on a line without an end.
func (m *mask) flush() {
	if len(m.rest) > 0 {
		m.pass(m.rest)
		m.rest = m.rest[:0]
	}
}

func (m *mask) pass(lines []byte) { _, _ = io.WriteString(m.to, replace(string(lines), m.hidden)) }
