// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/pipedeck/pipedeck/tui/keymap"
)

// pane is a part of the screen that can have the focus. It keeps where the user is in it.
type pane interface {
	// move goes up or down in the pane.
	move(action keymap.Action)
	// finding is the line of / in the pane.
	finding() *find
	// draw returns width columns and height lines.
	draw(width, height int, focused bool) string
}

// drawFound draws a pane, and below it the line of what the user looks for in it.
func drawFound(look *find, note string, width, height int, draw func(width, height int) string) string {
	if !look.shown() {
		return draw(width, height)
	}
	return draw(width, height-1) + "\n" + look.draw(width, note)
}

// noMatch is said instead of an empty list.
func noMatch(look *find, all int, what string) string {
	if look.query == "" {
		return ""
	}
	return fmt.Sprintf("No match for %q in %d %s; esc clears", look.query, all, what)
}

// panes are all of them.
type panes struct {
	applications *applicationsPane
	deployment   *deploymentPane
	log          *logPane
	plugins      *pluginsPane
	environment  *environmentPane
	history      *historyPane
	resources    *resourcesPane
	inspector    *inspectorPane
	insights     *insightsPane
	preview      *previewPane
}

// of returns the pane with the focus; nil while the environment starts.
func (p *panes) of(focus keymap.Scope) pane {
	switch focus {
	case keymap.Applications:
		return p.applications
	case keymap.Deployment:
		return p.deployment
	case keymap.Log:
		return p.log
	case keymap.Plugins:
		return p.plugins
	case keymap.Environment:
		return p.environment
	case keymap.History:
		return p.history
	case keymap.Resources:
		return p.resources
	case keymap.Inspector:
		return p.inspector
	case keymap.Insights:
		return p.insights
	case keymap.Preview:
		return p.preview
	}
	return nil
}

// all returns every pane.
func (p *panes) all() []pane {
	return []pane{p.applications, p.deployment, p.log, p.plugins, p.environment, p.history, p.resources,
		p.insights, p.preview}
}

// side returns the pane that stands in the right column, above or before the log.
func (p *panes) side(focus keymap.Scope) pane {
	switch focus {
	case keymap.Plugins, keymap.Environment, keymap.History, keymap.Resources, keymap.Inspector, keymap.Insights,
		keymap.Preview:
		return p.of(focus)
	}
	return p.deployment
}

// open is the pane of the right column, or of the only one: lists open over the deployment there.
func (p *panes) open(s *screen) pane {
	if s.focus == keymap.Applications && !s.wide() {
		return p.applications
	}
	return p.side(s.focus)
}

// settle brings the panes in line with the selection and with what the deck API has sent.
func (p *panes) settle(focus keymap.Scope) tea.Cmd {
	p.plugins.settle()
	return tea.Batch(p.log.settle(), p.resources.settle(focus == keymap.Resources),
		p.insights.settle(focus == keymap.Insights), p.preview.settle(focus == keymap.Preview),
		p.inspector.settle(focus == keymap.Inspector))
}

// far is more than any list is long.
const far = 1 << 30

// steps is how many rows an action moves: down when positive.
func steps(action keymap.Action) int {
	switch action {
	case keymap.Up:
		return -1
	case keymap.Down:
		return 1
	case keymap.Top:
		return -far
	case keymap.Bottom:
		return far
	case keymap.PageUp:
		return -10
	case keymap.PageDown:
		return 10
	}
	return 0
}
