// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/pipedeck/pipedeck/tui/theme"
)

// screen is what a table is printed on. The zero value is a file or a pipe.
type screen struct {
	// width is in columns; 0 for as wide as anything.
	width int
	// colours says that states have colours.
	colours bool
	theme   theme.Theme
}

// screenOf returns the terminal behind a writer, if there is one.
func screenOf(w io.Writer) screen {
	terminal, ok := Terminal(w)
	if !ok {
		return screen{}
	}
	width, _, err := term.GetSize(terminal)
	if err != nil {
		width = 0
	}
	return newScreen(width, os.Environ())
}

// newScreen returns a terminal of a width. Its colours are the 16 that users choose for their terminal, since commands
// do not ask it for its background; NO_COLOR and TERM=dumb have none.
func newScreen(width int, environ []string) screen {
	options, err := theme.FromEnvironment(environ)
	if err != nil { // of a theme that does not exist; the UI says so
		options.Choice, _ = theme.Choose("")
	}
	options.Depth = theme.Colors16
	return screen{width: width, colours: !options.NoColor, theme: theme.New(options)}
}

// ellipsis ends what is cut.
func (s screen) ellipsis() string { return s.theme.Ellipsis }

func (s screen) head(shown string) string {
	if !s.colours {
		return shown
	}
	return s.theme.Strong.Render(shown)
}

// state shows a word for a state, which may be cut, in the colour of its meaning.
func (s screen) state(word, shown string) string {
	if !s.colours {
		return shown
	}
	return s.tone(word).Sign(shown)
}

// tone returns the meaning of a word for a state.
func (s screen) tone(word string) theme.Tone {
	tones := s.theme.Tones
	switch word {
	case "SYNCED", "HEALTHY", "SUCCESS", "READY", "CONNECTED", "REMOVED", "ok", "passed", "local", "fetched",
		"downloaded", "unchanged":
		return tones.Good
	case "RUNNING", "DEPLOYING", "PLANNED", "PENDING", "STARTING", "RESTARTING":
		return tones.Running
	case "OUT_OF_SYNC", "ORPHANED", "NEVER_CONNECTED", "DISCONNECTED", "CANCELLED", "STOPPED", "warn", "noted", "stale":
		return tones.Warn
	case "FAILURE", "FAILED", "UNHEALTHY", "INVALID_CONFIG", "DEGRADED", "KILLED", "UNREADABLE", "fail", "failed",
		"missing":
		return tones.Bad
	case "ROLLING_BACK":
		return tones.Rollback
	}
	return tones.Text
}
