// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/logbuf"
)

// halfway is the middle of a session that plays.
type halfway struct{ Playback }

func (halfway) Position() PlaybackPosition {
	return PlaybackPosition{At: 65 * time.Second, Length: 130 * time.Second, Playing: true, Speed: 2}
}

func TestTheLineOfARecordedSessionIsOnEveryScreen(t *testing.T) {
	t.Parallel()
	for name, environ := range map[string][]string{"main": nil, "big": {bigMode}} {
		for _, size := range [][2]int{{80, 24}, {120, 36}, {60, 16}} {
			m := waiting(t, size[0], size[1], environ...)
			m.host.cfg.Playback = halfway{}
			for _, keys := range [][]string{nil, {"enter"}} {
				m.key(keys...)
				lines := strings.Split(ansi.Strip(m.View().Content), "\n")
				require.Len(t, lines, size[1], name)
				found := 0
				for _, line := range lines {
					require.Equal(t, size[0], ansi.StringWidth(line), name)
					if strings.Contains(line, "plays 2x  1:05 of 2:10") {
						found++
					}
				}
				require.Equal(t, 1, found, "%s at %v:\n%s", name, size, strings.Join(lines, "\n"))
			}
		}
	}
}

func TestWhatIsSaidInBigModeStandsAboveTheLineOfARecordedSession(t *testing.T) {
	t.Parallel()
	m := waiting(t, 80, 24, bigMode)
	m.host.cfg.Playback = halfway{}
	m.hear(logbuf.Info, "a line")
	m.toast.say("something was said", true)
	lines := strings.Split(ansi.Strip(m.View().Content), "\n")
	require.Contains(t, lines[22], "something was said")
	require.Contains(t, lines[23], "plays 2x")
}

func TestTheCaptionOfARecordedStoryStandsAboveTheLineOfTheSession(t *testing.T) {
	t.Parallel()
	for name, environ := range map[string][]string{"main": nil, "big": {bigMode}} {
		for _, size := range [][2]int{{80, 24}, {120, 36}, {60, 16}} {
			m := waiting(t, size[0], size[1], environ...)
			m.host.cfg.Playback = halfway{}
			m.Update(eventsMsg{[]*deckv1.Event{{Kind: &deckv1.Event_Caption{Caption: &deckv1.Caption{
				Text: "The stage waits.", Step: 2, Steps: 5, Awaits: "hello-world SUCCESS",
				Focus: &deckv1.CaptionFocus{Step: 2, Pane: string(keymap.Log)}}}}}})
			require.Equal(t, keymap.Log, m.screen.focus, "a recorded story shows what it is about")
			lines := strings.Split(ansi.Strip(m.View().Content), "\n")
			require.Len(t, lines, size[1], name)
			screen := strings.Join(lines, "\n")
			require.Regexp(t, `> The stage waits\.(?s:.*)plays 2x  1:05 of 2:10`, screen, name)
			require.Equal(t, 1, strings.Count(screen, "plays 2x"), name)
			require.Equal(t, 1, strings.Count(screen, "The stage waits."), name)
		}
	}
}

// over is the end of a session that is not complete.
type over struct{ Playback }

func (over) Position() PlaybackPosition {
	return PlaybackPosition{At: time.Second, Length: time.Second, Speed: 1, Missing: "the file is damaged"}
}

func (over) Now() time.Time { return halfway{}.Now() }

func TestKeysThatGoForwardSayThatTheSessionHasEnded(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"]", "."} {
		m := waiting(t, 120, 36)
		m.host.cfg.Playback = over{}
		m.host.file.Map = keysFor(m.host.cfg, m.host.file.Map)
		m.input.keys = m.host.file.Map
		m.Update(keyPress(key))
		require.Equal(t, "this is the end of the session; space begins again", m.toast.text)
	}
}

func TestASessionThatBreaksOffBeforeItsFirstStateSaysSo(t *testing.T) {
	t.Parallel()
	m := still(t)
	m.size(120, 36)
	m.host.cfg.Playback = over{}
	screen := ansi.Strip(m.render())
	require.Contains(t, screen, "the session breaks off before its first state: the file is damaged")
	require.NotContains(t, screen, "connecting")
}

func (halfway) Now() time.Time { return time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC) }

func TestTheTimesOfARecordedSessionAreThoseOfTheUsersZone(t *testing.T) {
	t.Parallel()
	now := localTimes(halfway{})()
	require.Equal(t, time.Local, now.Location())
	require.True(t, now.Equal(halfway{}.Now()))
}
