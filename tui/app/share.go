// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"
	qr "github.com/piglig/go-qr"

	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
	"github.com/pipedeck/pipedeck/tui/view"
)

// Share is how others watch what the UI shows. Its functions return at once; they are called from one goroutine.
type Share struct {
	// Ways are the ways to watch at present.
	Ways func() []Way
	// Watchers is how many watch. The UI calls it whenever News has something.
	Watchers func() int
	// News say who came and who left, a line each; nil for none.
	News <-chan string
}

// Way is one way to watch.
type Way struct {
	// Name is one word or two: "Page".
	Name string
	// Text is what a watcher opens or types, and what is copied.
	Text string
	// Shown is the part of Text that everyone may read, who looks at the screen, too.
	Shown string
	// Code is the content of the QR code; empty for none.
	Code string
	// Notes are what else is to be known, a line each.
	Notes []string
}

// noShare says how to begin where nothing is served.
const noShare = "Nothing is served to others. Leave the UI, which keeps the environment running, and open it again " +
	"with one of these flags:"

// noSessionShare is noShare in a recorded session.
const noSessionShare = "Nothing is served to others. Leave the UI, and replay the session again with one of these " +
	"flags:"

// shareFlags are the flags that serve something, with what they serve.
var shareFlags = []string{"  --serve-web   a page for browsers", "  --serve-ssh   this UI in the terminals of others"}

// pass shows who came and who left until ctx ends.
func (s *Share) pass(ctx context.Context, send func(tea.Msg)) {
	for {
		select {
		case line, open := <-s.News:
			if !open {
				return
			}
			send(actionMsg{done: line})
		case <-ctx.Done():
			return
		}
	}
}

// begun says, when the UI begins, that others can watch.
func (s *Share) begun(h *host) string {
	var at []string
	for _, way := range s.Ways() {
		at = append(at, text.Line(way.Shown))
	}
	if len(at) == 0 {
		return ""
	}
	return "others can watch: " + strings.Join(at, ", ") + "; " + h.key(keymap.ShowShare) + " says how"
}

// shareView is the overlay that says how others can watch.
type shareView struct {
	host      *host
	overlays  *overlays
	clipboard clipboard
	at        int
	// alone: the code is shown alone. said is what came of copying, which the overlay hides where it is usually said.
	alone bool
	said  string
	// code is that of the content coded.
	code  *qr.QrCode
	coded string
}

// openShare opens the overlay and copies the first way.
func openShare(m *model) tea.Cmd {
	v := &shareView{host: m.host, overlays: &m.overlays, clipboard: clipboard{m.host, &m.toast}}
	m.overlays.push(v)
	if len(v.ways()) == 0 {
		return nil
	}
	return v.copy()
}

func (v *shareView) where() keymap.Scope { return keymap.ShareOverlay }

// ways are the present ones.
func (v *shareView) ways() []Way {
	if v.host.cfg.Share == nil {
		return nil
	}
	return v.host.cfg.Share.Ways()
}

// way is the selected one; there is at least one.
func (v *shareView) way(ways []Way) Way { return ways[min(v.at, len(ways)-1)] }

func (v *shareView) act(action keymap.Action, _ string) tea.Cmd {
	ways := v.ways()
	switch {
	case action == keymap.Back && v.alone:
		v.alone = false
	case action == keymap.Back:
		return v.overlays.pop()
	case len(ways) == 0:
	case action == keymap.Copy:
		return v.copy()
	case action == keymap.Zoom:
		v.alone = !v.alone
	default:
		v.said = ""
		v.at = moved(min(v.at, len(ways)-1), steps(action), len(ways))
	}
	return nil
}

func (v *shareView) copy() tea.Cmd {
	way := v.way(v.ways())
	v.said = "copied"
	if clipboardless(v.host.cfg.Environ) {
		v.said = "the terminal has no clipboard"
	}
	return v.clipboard.take(copied{"how to watch: " + text.Line(way.Name), way.Text})
}

func (v *shareView) draw(width, height int) string {
	th := v.host.theme
	nothing := noShare
	if v.host.cfg.Playback != nil {
		nothing = noSessionShare
	}
	shown := view.Share{Theme: th, At: v.at, CodeOnly: v.alone, Nothing: append([]string{nothing, ""}, shareFlags...),
		CodeKey: v.key(keymap.Zoom), Hint: v.key(keymap.Back) + " closes"}
	ways := v.ways()
	for _, way := range ways {
		one := view.ShareWay{Name: text.Line(way.Name), Text: text.Line(way.Text)}
		for _, note := range way.Notes {
			one.Notes = append(one.Notes, text.Line(note))
		}
		shown.Ways = append(shown.Ways, one)
	}
	if len(ways) > 0 {
		shown.Hint = cmp.Or(v.said, v.key(keymap.Copy)+" copies") + " " + th.Dot + " " + shown.Hint
		shown.At = min(v.at, len(ways)-1)
		shown.Watchers = v.host.cfg.Share.Watchers()
		shown.Code = v.encode(th, v.way(ways).Code)
	}
	return shown.Draw(width, height)
}

func (v *shareView) key(action keymap.Action) string {
	return v.host.file.Map.Key(keymap.ShareOverlay, action)
}

// encode is the code of a content; nil without one. Low correction keeps it small: a screen is not torn.
func (v *shareView) encode(th theme.Theme, content string) *view.Code {
	if content == "" {
		return nil
	}
	if v.coded != content {
		segments, err := qr.MakeSegmentsOptimally(content, qr.Low, qr.MinVersion, qr.MaxVersion)
		if err != nil {
			return nil // too long for a code; the words say the same
		}
		code, err := qr.EncodeStandardSegments(segments, qr.Low)
		if err != nil {
			return nil
		}
		v.code, v.coded = code, content
	}
	return &view.Code{Theme: th, Light: v.host.look.Light, Size: v.code.Size(), Dark: v.code.Module}
}
