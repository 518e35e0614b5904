// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing/object"
)

// Commit is one commit. Its message is split as Git does: Subject is the first paragraph on one line.
type Commit struct {
	Hash    string
	Subject string
	Body    string
	// Author is the name, without the e-mail address.
	Author    string
	CreatedAt time.Time
}

// textOf is what a commit says as UTF-8, which all receivers need. Latin-1 is what Git itself takes other
// bytes for when nothing is said; of other encodings what cannot be read is marked.
func textOf(commit *object.Commit, said string) string {
	if utf8.ValidString(said) {
		return said
	}
	switch strings.ToLower(string(commit.Encoding)) {
	case "", "utf-8", "utf8", "iso-8859-1", "iso8859-1", "latin1", "latin-1":
		var text strings.Builder
		for i := range len(said) {
			text.WriteRune(rune(said[i]))
		}
		return text.String()
	}
	return strings.ToValidUTF8(said, "\uFFFD")
}

// splitMessage separates the first paragraph, put on one line, from the rest.
func splitMessage(message string) (subject, body string) {
	message = strings.TrimSpace(strings.ReplaceAll(message, "\r\n", "\n"))
	subject, body, _ = strings.Cut(message, "\n\n")
	return strings.Join(strings.Fields(subject), " "), strings.TrimSpace(body)
}

// Trailer returns the value of a line "Key: value" of the last paragraph of the body, "" when there is none.
func (c Commit) Trailer(key string) string {
	last := c.Body[strings.LastIndex(c.Body, "\n\n")+1:]
	for line := range strings.Lines(last) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(strings.TrimSpace(name), key) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
