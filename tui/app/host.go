// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/theme"
	"github.com/pipedeck/pipedeck/tui/view"
)

// host is what the program gives every part of the screen.
type host struct {
	cfg   Config
	work  *work
	clock clock
	// send takes messages from goroutines.
	send  func(tea.Msg)
	theme theme.Theme
	// file has the keys, and whether actions ask.
	file keymap.File
	// look is how theme is chosen.
	look theme.Options
	// now is when the present message came.
	now time.Time
	// known is until when the screen shows what the environment is doing: now, or when it was last heard of.
	known time.Time
	// caption is the present one of the story; nil for no story. focused is the step whose wish was shown last; 0 for
	// none.
	caption *deckv1.Caption
	focused int32
	// film is what the screen is drawn for instead of a terminal; nil for a terminal.
	film *Film
}

// key is how the key of an action of every pane is shown.
func (h *host) key(action keymap.Action) string { return h.file.Map.Key(keymap.Deployment, action) }

// actionKeys are the keys that texts of panes name; none where nothing can be changed.
func (h *host) actionKeys() view.Keys {
	if h.cfg.ReadOnly != "" {
		return view.Keys{}
	}
	return view.Keys{Approve: h.key(keymap.Approve), Break: h.key(keymap.Break), Sync: h.key(keymap.Sync)}
}

// later returns msg after a wait, unless the UI ends before.
func (h *host) later(wait time.Duration, msg tea.Msg) tea.Cmd {
	if h.film != nil {
		h.film.later(wait, msg)
		return nil
	}
	return h.work.do(func(ctx context.Context) tea.Msg {
		select {
		case <-h.clock.after(wait):
			return msg
		case <-ctx.Done():
			return nil
		}
	})
}

// ticker asks for the next tick as often as what the screen shows grows with time, and not twice.
type ticker struct {
	host *host
	// pace is that of the tick under way, 0 without one; number is that of the tick.
	pace   time.Duration
	number int
	// frame counts the ticks, for the spinner.
	frame int
}

type tickMsg struct{ number int }

// keep asks for a tick after pace, unless one comes sooner.
func (t *ticker) keep(pace time.Duration) tea.Cmd {
	if t.pace != 0 && t.pace <= pace {
		return nil
	}
	t.pace = pace
	t.number++
	return t.host.later(pace, tickMsg{t.number})
}

// take counts a tick; one that a faster tick has replaced is ignored.
func (t *ticker) take(msg tickMsg) {
	if msg.number == t.number {
		t.pace = 0
		t.frame++
	}
}

// toastTime is how long a toast stays; an error stays until a key is pressed.
const toastTime = 4 * time.Second

// toast is the outcome of the last action.
type toast struct {
	host *host
	text string
	// bad: an action failed. remark: it is not the outcome of an action.
	bad, remark bool
	// number distinguishes an old timer from the present one.
	number int
}

type toastMsg struct{ number int }

// say shows the outcome of an action.
func (t *toast) say(message string, bad bool) tea.Cmd {
	*t = toast{host: t.host, text: message, bad: bad, number: t.number + 1}
	if bad {
		return nil
	}
	return t.host.later(toastTime, toastMsg{t.number})
}

// note shows a remark.
func (t *toast) note(message string) tea.Cmd {
	cmd := t.say(message, false)
	t.remark = true
	return cmd
}

// press removes an error: the user has seen it.
func (t *toast) press() {
	if t.bad {
		t.text, t.bad, t.remark = "", false, false
	}
}

// typed removes a remark: the user is doing what it says, or something else.
func (t *toast) typed() {
	if t.remark {
		t.text, t.bad, t.remark = "", false, false
	}
}

// take removes the text whose time is over.
func (t *toast) take(msg toastMsg) {
	if msg.number == t.number {
		t.text, t.bad, t.remark = "", false, false
	}
}
