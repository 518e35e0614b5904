// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strings"

	"github.com/pipedeck/pipedeck/tui/text"
)

// TooSmall is shown when the terminal cannot hold the screen.
func TooSmall(width, height, minWidth, minHeight int) string {
	message := []string{
		fmt.Sprintf("terminal too small (%dx%d), needs %dx%d", width, height, minWidth, minHeight),
		"make it larger, or press q",
	}
	lines := make([]string, max(0, height))
	for i := range lines {
		lines[i] = strings.Repeat(" ", max(0, width))
	}
	var wrapped []string
	for _, line := range message {
		wrapped = append(wrapped, text.Wrap(line, max(1, width))...)
	}
	start := max(0, (height-len(wrapped))/2)
	for i, line := range wrapped {
		if start+i < len(lines) {
			pad := max(0, (width-text.Width(line))/2)
			lines[start+i] = text.Pad(strings.Repeat(" ", pad)+line, width, "")
		}
	}
	return strings.Join(lines, "\n")
}

// Over puts top in the middle of base, which has width columns and height lines.
func Over(base, top string, width, height int) string {
	columns, lines := 0, 0
	for line := range strings.SplitSeq(top, "\n") {
		columns, lines = max(columns, text.Width(line)), lines+1
	}
	return At(base, top, max(0, (width-columns)/2), max(0, (height-lines)/2), width, height)
}

// At puts top over base, which has width columns and height lines, with its upper left corner at a column and a line.
// What does not fit is cut.
func At(base, top string, x, y, width, height int) string {
	lines := strings.Split(base, "\n")
	for line := range strings.SplitSeq(top, "\n") {
		if y >= min(height, len(lines)) {
			break
		}
		end := x + text.Width(line)
		if end > width {
			line, end = text.Part(line, 0, width-x), width
		}
		lines[y] = text.Part(lines[y], 0, x) + line + text.Part(lines[y], end, width)
		y++
	}
	return strings.Join(lines, "\n")
}
