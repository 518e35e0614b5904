// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strconv"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Playback is where a recorded session is played, in one line.
type Playback struct {
	Theme theme.Theme
	// At is the time since its beginning, Length that of its end.
	At, Length time.Duration
	Playing    bool
	// Speed is a multiple of the time of the session.
	Speed float64
	// Missing is why the session is not complete; empty when it is.
	Missing string
}

// least is the shortest slider that says something.
const leastSlider = 10

// Draw returns one line of width columns.
func (v Playback) Draw(width int) string {
	th := v.Theme
	word := "paused"
	switch {
	case v.Playing:
		word = "plays"
	case v.At >= v.Length:
		word = "ended"
	}
	left := " " + th.Strong.Render(word) + th.Dim.Render(" "+strconv.FormatFloat(v.Speed, 'g', -1, 64)+"x  ") +
		clock(v.At) + th.Dim.Render(" of "+clock(v.Length)) + "  "
	right := ""
	if v.Missing != "" && v.At >= v.Length {
		right = "  " + signed(th.Tones.Warn, th.Warning, "not complete: "+text.Line(v.Missing)) + " "
	}
	room := width - text.Width(left) - text.Width(right) - 1
	if room < leastSlider {
		return text.Pad(left+right, width, th.Ellipsis)
	}
	done := room
	if v.Length > 0 {
		done = max(0, min(room, int(float64(room)*v.At.Seconds()/v.Length.Seconds())))
	}
	bar := th.Key.Render(strings.Repeat(th.Heavy, done)) + th.Dim.Render(strings.Repeat(th.Horizontal, room-done))
	return text.Pad(left+bar+right, width, th.Ellipsis)
}

// clock is a position, such as 2:05.
func clock(d time.Duration) string {
	s := int(d / time.Second)
	minutes := strconv.Itoa(s / 60)
	if s >= 3600 {
		minutes = strconv.Itoa(s/3600) + ":" + pad2(s/60%60)
	}
	return minutes + ":" + pad2(s%60)
}

func pad2(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}
