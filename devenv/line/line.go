// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package line writes parts of the lines that users read: texts of bounded length, numbers with their nouns, and short
// names of commits. It never cuts inside a UTF-8 character. devenv and the commands call it.
package line

import (
	"fmt"
	"strings"
)

// Cut shortens a text to at most limit bytes, and marks the cut with an ellipsis after them. What is not UTF-8 at the
// cut is left out.
func Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// First returns the first line of a text.
func First(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}

// Count returns a number with its noun, which takes an s for more than one: "1 pod", "2 pods".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Commit returns the short form of a commit's hash.
func Commit(hash string) string { return hash[:min(7, len(hash))] }
