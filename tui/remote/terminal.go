// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/pipedeck/pipedeck/tui/app"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// maxColumns and maxLines bound the screen of a watcher, whose cells are kept. More of a terminal stays empty.
const (
	maxColumns = 640
	maxLines   = 200
)

// terminal is that of a watcher.
type terminal struct {
	name string
	size app.Size
	// sizes has the last size that the UI has not taken.
	sizes chan app.Size
}

// terminalName is what names of terminals look like; it is only compared with known ones.
var terminalName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9+._-]{0,63}$`)

// newTerminal reads a request for a terminal. Source: RFC 4254, 6.2.
func newTerminal(payload []byte) (*terminal, bool) {
	var asked struct {
		Term                          string
		Columns, Lines, Width, Height uint32
		Modes                         string
	}
	if ssh.Unmarshal(payload, &asked) != nil {
		return nil, false
	}
	if !terminalName.MatchString(asked.Term) {
		asked.Term = "dumb"
	}
	return &terminal{asked.Term, sized(asked.Columns, asked.Lines), make(chan app.Size, 1)}, true
}

// resize reads a new size. Source: RFC 4254, 6.7.
func (t *terminal) resize(payload []byte) bool {
	var asked struct{ Columns, Lines, Width, Height uint32 }
	if ssh.Unmarshal(payload, &asked) != nil {
		return false
	}
	put(t.sizes, sized(asked.Columns, asked.Lines))
	return true
}

func sized(columns, lines uint32) app.Size {
	return app.Size{Width: int(min(columns, maxColumns)), Height: int(min(lines, maxLines))}
}

// Variables that a watcher may set: how the terminal looks.
var (
	variables = []string{"COLORTERM", "NO_COLOR", "COLORFGBG", themeVariable, "PIPEDECK_ASCII",
		"PIPEDECK_REDUCED_MOTION", "PIPEDECK_BIG"}
	// variableValue has no path in it, which would name a file of this machine.
	variableValue = regexp.MustCompile(`^[A-Za-z0-9;_-]{0,64}$`)
)

const themeVariable = "PIPEDECK_THEME"

// setVariable takes a variable. The last one of a name counts, so there are never more than those of the list.
func (s *session) setVariable(payload []byte) bool {
	var asked struct{ Name, Value string }
	if ssh.Unmarshal(payload, &asked) != nil || !slices.Contains(variables, asked.Name) ||
		!variableValue.MatchString(asked.Value) {
		return false
	}
	if _, err := theme.Choose(asked.Value); asked.Name == themeVariable && err != nil {
		return false
	}
	s.environ = slices.DeleteFunc(s.environ, func(one string) bool { return strings.HasPrefix(one, asked.Name+"=") })
	s.environ = append(s.environ, asked.Name+"="+asked.Value)
	return true
}

// output is the screen of a watcher, whose terminal adds no carriage returns.
type output struct{ to io.Writer }

func (o output) Write(p []byte) (int, error) {
	if _, err := o.to.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// input are the keys of a watcher. Without any more, the watcher still watches.
type input struct {
	from io.Reader
	// seen is called with each key; ended is closed when the UI has ended.
	seen  func()
	ended <-chan struct{}
}

func (i input) Read(p []byte) (int, error) {
	n, err := i.from.Read(p)
	if n > 0 {
		i.seen()
		return n, nil
	}
	if err != nil {
		<-i.ended
	}
	return n, err
}

// put replaces what is in a channel for one; nothing else sends to it.
func put[T any](into chan T, value T) {
	select {
	case <-into:
	default:
	}
	into <- value
}
