// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import "strings"

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
