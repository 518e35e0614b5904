// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"io"
	"os"
)

// Painter colours text by what it is: the first character of a line of a diff, '*' for a heading, '!' for an error. The
// zero value leaves all text as it is.
type Painter map[byte]string

// Of returns the text as it is where there is no colour for it.
func (p Painter) Of(kind byte, text string) string {
	code, ok := p[kind]
	if !ok {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Colours are those of a terminal, and none anywhere else.
func Colours(w io.Writer) Painter {
	if _, ok := Terminal(w); !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return Painter{'+': "32", '-': "31", '@': "36", '#': "1", '*': "1", '!': "31"}
}
