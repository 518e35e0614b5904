// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strings"

	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Share shows how others can watch.
type Share struct {
	Theme theme.Theme
	Ways  []ShareWay
	// At is the selected way; the code is that of it.
	At int
	// Watchers is how many watch.
	Watchers int
	// Nothing is said instead when there is no way.
	Nothing []string
	// Code is nil when the selected way has none; CodeOnly shows it alone, CodeKey is the key for that.
	Code     *Code
	CodeOnly bool
	CodeKey  string
	// Hint names the keys.
	Hint string
}

// ShareWay is one way to watch: what a watcher opens or types, and what is to be known about it.
type ShareWay struct {
	Name, Text string
	Notes      []string
}

// Draw returns exactly width columns and height lines. Nothing stands next to what is copied from the screen.
func (v Share) Draw(width, height int) string {
	frame := box{theme: v.Theme, title: "Share", right: v.Theme.Dim.Render(v.Hint), focused: true}
	return frame.titled(v.lines(width, height-1), width, height)
}

func (v Share) lines(width, height int) []string {
	if len(v.Ways) == 0 {
		return wrapAll(v.Nothing, width)
	}
	if v.Code != nil && !v.fits(width, height) {
		narrow := *v.Code
		narrow.Narrow = true
		v.Code = &narrow
	}
	if v.CodeOnly && v.Code != nil && v.fits(width, height) {
		return v.Code.Draw()
	}
	lines := v.words(width)
	switch _, need := v.room(); {
	case v.Code == nil:
	case !v.fits(width, height):
		columns, rows := v.room()
		lines = append(lines, "", v.Theme.Dim.Render(
			fmt.Sprintf("The QR code needs %dx%d, more than this terminal has.", columns, rows+1)))
	case len(lines)+1+need <= height:
		lines = append(append(lines, ""), v.Code.Draw()...)
	default:
		lines = append(lines, "", v.Theme.Dim.Render(v.CodeKey+" shows the QR code."))
	}
	return lines
}

// words are the lines besides the code.
func (v Share) words(width int) (lines []string) {
	for i, way := range v.Ways {
		name, mark := way.Name, "  "
		if len(v.Ways) > 1 && i == v.At {
			name, mark = v.Theme.TitleFocused.Render(name), v.Theme.Mark+" "
		}
		lines = append(lines, mark+name)
		lines = append(lines, wrapAll([]string{way.Text}, width)...)
		for _, note := range wrapAll(way.Notes, width) {
			lines = append(lines, v.Theme.Dim.Render(note))
		}
		lines = append(lines, "")
	}
	return append(lines, WatchingWords(v.Watchers))
}

// WatchingWords say how many watch.
func WatchingWords(count int) string {
	switch count {
	case 0:
		return "No one watches."
	case 1:
		return "1 person watches."
	}
	return fmt.Sprintf("%d people watch.", count)
}

func (v Share) room() (width, height int) {
	if v.Code == nil {
		return 0, 0
	}
	return v.Code.Room()
}

func (v Share) fits(width, height int) bool {
	columns, rows := v.room()
	return columns <= width && rows <= height
}

func wrapAll(lines []string, width int) (all []string) {
	for _, line := range lines {
		if line = strings.TrimRight(line, " "); line == "" {
			all = append(all, "")
			continue
		}
		all = append(all, text.Wrap(line, max(8, width))...)
	}
	return all
}
