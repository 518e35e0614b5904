// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// enterScreen and leaveScreen are what Bubble Tea writes when it enters and leaves its screen.
const (
	enterScreen = ansi.SetModeAltScreenSaveCursor + ansi.HideCursor + ansi.EraseEntireScreen + ansi.CursorHomePosition
	leaveScreen = ansi.ResetModeAltScreenSaveCursor + ansi.ShowCursor
)

// drawFirst draws the first screen and reports whether it could. Bubble Tea draws it again, but only at its first tick.
// There are no colours yet: which ones the terminal shows is asked for later. What is written to no terminal is left to
// Bubble Tea.
func drawFirst(m *model, output io.Writer) bool {
	file := fileOf(output)
	if file == nil {
		return false
	}
	width, height, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return false
	}
	before := m.screen
	m.screen.width, m.screen.height = width, height
	content := ansi.Strip(m.render())
	m.screen = before
	_, err = io.WriteString(file, enterScreen+strings.ReplaceAll(content, "\n", "\r\n"))
	return err == nil
}

// listening is how long Bubble Tea may take to listen for changes of the terminal's size.
const listening = 200 * time.Millisecond

// sizeAgain sends the size of the terminal once more after the start. Who has seen the first screen may have changed it
// before Bubble Tea listened.
func sizeAgain(ctx context.Context, output io.Writer, send func(tea.Msg)) {
	file := fileOf(output)
	if file == nil {
		return
	}
	select {
	case <-time.After(listening):
	case <-ctx.Done():
		return
	}
	if width, height, err := term.GetSize(int(file.Fd())); err == nil {
		send(tea.WindowSizeMsg{Width: width, Height: height})
	}
}

// leaveFirst leaves the screen of drawFirst when Bubble Tea could not run, which leaves it otherwise.
func leaveFirst(output io.Writer) { _, _ = io.WriteString(fileOf(output), leaveScreen) }

// fileOf returns the file of Config.Output; nil when it is something else.
func fileOf(output io.Writer) *os.File {
	if output == nil {
		return os.Stdout
	}
	file, _ := output.(*os.File)
	return file
}
