// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package logbuf

import (
	"strings"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/text"
)

// AppendBlock adds the lines of a block of the deck API to a list: Text is cleaned, Raw is as it came.
func AppendBlock(list []Line, block *deckv1.LogBlock) []Line {
	severity := Plain
	switch block.GetSeverity() {
	case deckv1.Severity_SEVERITY_INFO:
		severity = Info
	case deckv1.Severity_SEVERITY_SUCCESS:
		severity = Success
	case deckv1.Severity_SEVERITY_ERROR:
		severity = Error
	}
	var at time.Time
	if block.GetTime().IsValid() {
		at = block.GetTime().AsTime()
	}
	body := strings.TrimRight(block.GetText(), "\n")
	parts := []string{body}
	if strings.Contains(body, "\n") {
		parts = strings.Split(body, "\n")
	}
	source := sourceLines(parts)
	level := Normal
	for i, raw := range parts {
		clean, _ := text.LogLine(raw)
		level = lineLevel(clean, severity, level)
		line := Line{Time: at, Severity: severity, Level: level, Text: clean, Raw: raw}
		if i >= source.From && i < source.To {
			line.Level = Source
		}
		list = append(list, line)
	}
	return list
}

// lineLevel is the level of a line, after one of level before in the same block. An indented line belongs to the line
// before it, as in a stack trace.
func lineLevel(clean string, severity Severity, before Level) Level {
	level, found := LevelOf(clean)
	switch {
	case severity == Error:
		return Failure
	case !found && strings.HasPrefix(clean, " "):
		return before
	}
	return level
}

// minSource is the least number of lines of a script that are folded.
const minSource = 4

// sourceLines are the lines of a block that are the text of a script, as SCRIPT_RUN shows it before it runs: indented
// ones behind a line such as "Running the script:".
func sourceLines(lines []string) text.Span {
	if len(lines) <= minSource || !strings.HasSuffix(lines[0], "script:") {
		return text.Span{}
	}
	end := 1
	for end < len(lines) && (lines[end] == "" || strings.HasPrefix(lines[end], "  ")) {
		end++
	}
	if end <= minSource || end < len(lines) {
		return text.Span{}
	}
	return text.Span{From: 1, To: end}
}
