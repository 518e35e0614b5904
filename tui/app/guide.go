// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	tea "charm.land/bubbletea/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

// Guide leads through a story: captions stand above the keys, and a key goes on.
type Guide struct {
	// Captions are shown as they come.
	Captions <-chan Caption
	// Next is called when the user wants to go on; nil when the story goes on by itself. It must not block.
	Next func()
}

// Caption is what the user sees of a step of a story.
type Caption struct {
	Text string
	// Step counts from 1 to Steps.
	Step, Steps int
	// Awaits is what the story waits for; empty when it waits for the user, or goes on by itself.
	Awaits string
	// Show is the pane that gets the focus; empty for no change.
	Show keymap.Scope
	// Application is the name of the application that is selected. When it is empty and Show is not, the newest
	// deployment is followed.
	Application string
	// Stage is the id or the type of a stage of its newest deployment, which is selected once it has begun; empty for
	// none. That deployment is of Commit, and is not After, which is the id of an older one; both may be empty.
	Stage, Commit, After string
}

// captionMsg shows a caption.
type captionMsg Caption

// pass shows captions until ctx ends.
func (g *Guide) pass(ctx context.Context, send func(tea.Msg)) {
	for {
		select {
		case caption, open := <-g.Captions:
			if !open {
				return
			}
			send(captionMsg(caption))
		case <-ctx.Done():
			return
		}
	}
}

// guide takes a caption.
func guide(h *host, c Caption) {
	c.Text, c.Awaits = text.Line(c.Text), text.Line(c.Awaits)
	if last := h.caption; c.Show == "" && c.Text == last.Text { // what it asked for may still be to come
		c.Show, c.Application = last.Show, last.Application
		c.Stage, c.Commit, c.After = last.Stage, last.Commit, last.After
	}
	h.caption = c
}

// settleCaption shows what the caption asks for, once: as soon as it is there.
func settleCaption(m *model) {
	c := &m.host.caption
	if c.Show == "" || !m.screen.main {
		return
	}
	var found *deckv1.Application
	for _, app := range m.link.deck.Applications() {
		if app.GetName() == c.Application {
			found = app
		}
	}
	if found == nil && c.Application != "" {
		return
	}
	stage := c.begun(m.link.deck.Newest(found.GetId()))
	if stage == "" && c.Stage != "" {
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
	m.screen.focus, c.Show = c.Show, ""
}

// begun is the id of the stage that the caption asks for; empty while it has not begun in a deployment.
func (c *Caption) begun(d *deckv1.Deployment) string {
	if d == nil || c.Stage == "" || d.GetId() == c.After || c.Commit != "" && d.GetCommit().GetHash() != c.Commit {
		return ""
	}
	for _, stage := range d.GetStages() {
		if (stage.GetConfigId() == c.Stage || stage.GetName() == c.Stage) && stage.GetStartedAt().IsValid() {
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
	if h.cfg.Guide.Next != nil && h.caption.Awaits == "" {
		h.cfg.Guide.Next()
	}
	return true
}

// drawCaption are the lines of the story; none where there is none.
func (h *host) drawCaption(width int) []string {
	if h.cfg.Guide == nil || h.caption.Text == "" {
		return nil
	}
	c := h.caption
	hint := ""
	switch {
	case c.Awaits != "":
		hint = "waits for " + c.Awaits
	case h.cfg.Guide.Next != nil:
		hint = "press " + keymap.NextStepKey + " to go on"
	}
	return view.Caption{Theme: h.theme, Text: c.Text, Step: c.Step, Steps: c.Steps, Hint: hint}.Draw(width)
}
