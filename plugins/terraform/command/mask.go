// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"io"
	"strings"
)

// stars stand for a secret.
const stars = "(sensitive value)"

// minSecret is the length from which a text is worth hiding: shorter ones are parts of other words.
const minSecret = 4

// hide replaces secrets.
func hide(text string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) >= minSecret {
			text = strings.ReplaceAll(text, secret, stars)
		}
	}
	return text
}

// maxLine bounds a line that is kept until its end comes, in bytes.
const maxLine = 64 << 10

// mask passes on whole lines without secrets.
type mask struct {
	to      io.Writer
	secrets []string
	rest    []byte
}

func newMask(to io.Writer, secrets []string) *mask {
	if to == nil {
		to = io.Discard
	}
	return &mask{to: to, secrets: secrets}
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

func (m *mask) pass(lines []byte) { _, _ = io.WriteString(m.to, hide(string(lines), m.secrets)) }
