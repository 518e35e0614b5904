// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/tui/document"
)

// tailBuffer keeps the end of what is written to it, at least the last limit bytes and at most twice as many: the end
// of a log says why its stage has failed.
type tailBuffer struct {
	kept  bytes.Buffer // not embedded: io.Copy would find its ReadFrom, which knows no limit
	limit int
}

// Write takes all that it is given.
func (b *tailBuffer) Write(p []byte) (int, error) {
	kept := p[max(0, len(p)-b.limit):]
	if b.kept.Len()+len(kept) > 2*b.limit {
		b.kept.Next(b.kept.Len() - b.limit)
	}
	_, _ = b.kept.Write(kept)
	return len(p), nil
}

// Bytes is what was kept. It is valid until the next Write.
func (b *tailBuffer) Bytes() []byte { return b.kept.Bytes() }

// lastPieces returns the end of a log that is printed as one object in JSON for each piece: its last n lines, in at
// most size bytes of JSON. A piece may hold thousands of lines; the first one that is returned has its last lines then.
// A last line that is longer than size is shortened to its end.
func lastPieces(printed []byte, n, size int) (last []document.LogLine) {
	for _, piece := range slices.Backward(bytes.Split(bytes.TrimSpace(printed), []byte("\n"))) {
		var of document.LogLine
		if json.Unmarshal(piece, &of) != nil {
			continue // of a very long log, the oldest piece has lost its beginning
		}
		all := strings.SplitAfter(strings.TrimSuffix(of.Text, "\n"), "\n")
		lines := all[max(0, len(all)-n):]
		of.Text = strings.Join(lines, "")
		for encoded(of) > size && len(lines) > 1 {
			lines = lines[(len(lines)+7)/8:]
			of.Text = strings.Join(lines, "")
		}
		long := encoded(of) > size
		if long && len(last) > 0 {
			break
		}
		if long {
			// A byte takes at most six in JSON.
			of.Text = strings.ToValidUTF8(of.Text[max(0, len(of.Text)-size/8):], "")
		}
		last = append(last, of)
		n, size = n-len(lines), size-encoded(of)
		if n <= 0 || long || len(lines) < len(all) {
			break
		}
	}
	slices.Reverse(last)
	return last
}

// printedLines counts the lines of a log that is printed as one object in JSON for each piece.
func printedLines(printed []byte) (count int) {
	for piece := range bytes.Lines(printed) {
		var of struct{ Text string }
		if json.Unmarshal(piece, &of) == nil {
			count += lineCount([]string{of.Text})
		}
	}
	return count
}

// lineCount counts the lines of the pieces of a log. Each piece has at least one.
func lineCount(pieces []string) (count int) {
	for _, piece := range pieces {
		count += 1 + strings.Count(strings.TrimSuffix(piece, "\n"), "\n")
	}
	return count
}

// encoded is the size of a piece in JSON, with its end of line.
func encoded(of document.LogLine) int {
	text, _ := json.Marshal(of)
	return len(text) + 1
}
