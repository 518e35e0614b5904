// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

// Guide makes the user the viewer of the story that is played on the environment. Its captions stand above the keys of
// every UI; that of its viewer also shows what the story is about, and a key goes on.
type Guide struct {
	// Next is called when the user wants to go on; nil when the story goes on by itself. It must not block.
	Next func()
}

// led reports whether a story moves the focus: that of its viewer, and of whoever plays the recording of it.
func (h *host) led() bool {
	return h.cfg.Guest == nil && (h.cfg.Guide != nil || h.cfg.Playback != nil || h.film != nil)
}

// settleCaption takes the present caption, and shows what it asks for, once: as soon as it is there.
func settleCaption(m *model) {
	h := m.host
	h.caption = m.link.deck.Caption()
	focus := h.caption.GetFocus()
	if focus.GetPane() == "" {
		h.focused = 0
		return
	}
	if !h.led() || !m.screen.main || focus.GetStep() == h.focused {
		return
	}
	pane := keymap.Scope(focus.GetPane())
	if m.panes.of(pane) == nil { // anything can stand in a recording
		h.focused = focus.GetStep()
		return
	}
	var found *deckv1.Application
	for _, app := range m.link.deck.Applications() {
		if app.GetName() == focus.GetApplication() {
			found = app
		}
	}
	if found == nil && focus.GetApplication() != "" {
		return
	}
	stage := begun(focus, m.link.deck.Newest(found.GetId()))
	if stage == "" && focus.GetStage() != "" {
		return
	}
	m.chosen.appPinned = false
	m.chosen.release()
	if found != nil {
		m.chosen.pinApplication(found.GetId())
	}
	if stage != "" {
		m.chosen.settle()
		m.chosen.pinStage(stage)
		m.panes.inspector.enter()
	}
	m.screen.focus, h.focused = pane, focus.GetStep()
}

// begun is the id of the stage that a story asks for; empty while it has not begun in a deployment.
func begun(focus *deckv1.CaptionFocus, d *deckv1.Deployment) string {
	if d == nil || focus.GetStage() == "" || d.GetId() == focus.GetAfterDeploymentId() ||
		focus.GetCommit() != "" && d.GetCommit().GetHash() != focus.GetCommit() {
		return ""
	}
	for _, stage := range d.GetStages() {
		asked := stage.GetConfigId() == focus.GetStage() || stage.GetName() == focus.GetStage()
		if asked && stage.GetStartedAt().IsValid() {
			return stage.GetId()
		}
	}
	return ""
}

// goesOn goes on with the story when a key asks for it, and reports whether it did.
func (h *host) goesOn(action keymap.Action) bool {
	if action != keymap.NextStep || h.cfg.Guide == nil {
		return false
	}
	if h.cfg.Guide.Next != nil && h.caption.GetAwaits() == "" {
		h.cfg.Guide.Next()
	}
	return true
}

// drawCaption are the lines of the story; none where there is none.
func (h *host) drawCaption(width int) []string {
	if h.caption == nil {
		return nil
	}
	c, hint := h.caption, ""
	switch {
	case c.GetAwaits() != "":
		hint = "waits for " + text.Line(c.GetAwaits())
	case h.cfg.Guide != nil && h.cfg.Guide.Next != nil:
		hint = "press " + keymap.NextStepKey + " to go on"
	}
	return view.Caption{Theme: h.theme, Text: text.Line(c.GetText()), Step: int(c.GetStep()), Steps: int(c.GetSteps()),
		Hint: hint}.Draw(width)
}

// captionRows is how many rows a story needs besides that of the status.
func (h *host) captionRows(width int) int {
	rows := len(h.drawCaption(width))
	if rows > 0 && h.cfg.Playback == nil {
		rows-- // else the line of the recorded session stands there
	}
	return rows
}
