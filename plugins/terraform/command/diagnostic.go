// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxDetail bounds what an error in one line has of the explanation, in bytes.
const maxDetail = 300

// diagnostic is one error of the program.
type diagnostic struct {
	// Summary is what follows "Error: ".
	Summary string
	// Place is FILE:LINE; empty when the error has none.
	Place string
	// Detail is the first line of the explanation, without the breaks of the program; empty when there is none.
	Detail string
}

// errorStart is how the first line of an error begins, in a frame or without one.
const errorStart = "Error: "

var placeLine = regexp.MustCompile(`^ +on (\S.*?) line (\d+)`)

// String is the error in one line.
func (d *diagnostic) String() string {
	text := d.head()
	if d.Place != "" {
		text += " (" + d.Place + ")"
	}
	if d.Detail != "" {
		text += ": " + d.Detail
	}
	return text
}

func (d *diagnostic) head() string { return errorStart + d.Summary }

// firstDiagnostic returns the first error in what the program wrote, and how many more there are; nil for none.
func firstDiagnostic(said string) (first *diagnostic, more int) {
	lines := strings.Split(plain(said), "\n")
	for i, line := range lines {
		summary, is := strings.CutPrefix(line, errorStart)
		switch {
		case is && first == nil:
			first = &diagnostic{Summary: summary}
			first.read(lines[i+1:])
		case is:
			more++
		}
	}
	return first, more
}

// read reads what follows the first line: a summary that goes on, the place with an excerpt, both of which are indented
// and end with an empty line, then the explanation.
func (d *diagnostic) read(lines []string) {
	for i, line := range lines {
		if line == "" {
			lines = lines[i:]
			break
		}
		if strings.HasPrefix(line, " ") || strings.HasPrefix(line, errorStart) {
			break
		}
		d.Summary += " " + line
	}
	for i, line := range lines {
		match := placeLine.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, errorStart):
			return
		case match != nil && d.Place == "":
			d.Place = fmt.Sprintf("%s:%s", match[1], match[2])
		case line == "" || strings.HasPrefix(line, " "):
		default:
			d.Detail = joined(lines[i:])
			if len(d.Detail) > maxDetail {
				d.Detail = strings.ToValidUTF8(d.Detail[:maxDetail], "") + "…"
			}
			return
		}
	}
}

// wrapWidth is the width from which the program breaks lines, in runes. It breaks at 78, less what is around a message.
const wrapWidth = 72

// joined is the first line of a text as it was before the program has broken it: a break is of the program where the
// next word had no room. Others are of the message, such as those in the output of a provisioner.
func joined(lines []string) string {
	text, last := lines[0], lines[0]
	for _, next := range lines[1:] {
		word, _, _ := strings.Cut(next, " ")
		width := utf8.RuneCountInString(last) + 1 + utf8.RuneCountInString(word)
		if word == "" || strings.HasPrefix(next, errorStart) || width <= wrapWidth {
			break
		}
		text += " " + next
		last = next
	}
	return text
}
