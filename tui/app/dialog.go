// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	tea "charm.land/bubbletea/v2"

	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/view"
)

// dialog asks something over the rest of the screen.
type dialog struct {
	scope    keymap.Scope
	title    string
	lines    []string
	choices  []choice
	selected int
}

type choice struct {
	key, text string
	do        func() tea.Cmd
}

// askLeave opens the dialog of q.
func (m *model) askLeave() {
	m.help, m.log.Typing = false, nil
	m.dialog = &dialog{
		scope: keymap.QuitDialog,
		title: "Leave pipedeck",
		lines: []string{"What should happen to the environment?"},
		choices: []choice{
			{"k", "keep it running and leave", func() tea.Cmd { return m.leave(LeaveRunning) }},
			{"t", "tear it down and leave", func() tea.Cmd { return m.leave(TearDown) }},
			{"esc", "stay here", m.closeDialog},
		},
	}
}

// askCancel opens the confirmation of c.
func (m *model) askCancel() {
	deployment := m.deployment()
	id := deployment.GetId()
	lines := []string{"A running stage is stopped."}
	for _, stage := range deployment.GetStages() {
		if stage.GetRollback() {
			lines = []string{"A running stage is stopped, then the application is rolled back."}
			break
		}
	}
	m.dialog = &dialog{
		scope: keymap.ConfirmDialog,
		title: "Cancel the deployment of " + deployment.GetApplicationName() + "?",
		lines: lines,
		choices: []choice{
			{"y", "yes, cancel it", func() tea.Cmd { m.dialog = nil; return m.cancel(id) }},
			{"n", "no", m.closeDialog},
		},
		selected: 1,
	}
}

func (m *model) closeDialog() tea.Cmd {
	m.dialog = nil
	return nil
}

// answer takes an action while the dialog is open.
func (m *model) answer(action keymap.Action) tea.Cmd {
	d := m.dialog
	switch action {
	case keymap.Interrupt:
		if d.scope == keymap.QuitDialog {
			return m.leave(LeaveRunning)
		}
		m.askLeave()
	case keymap.KeepRunning, keymap.Yes:
		return d.choices[0].do()
	case keymap.TearDown:
		return d.choices[1].do()
	case keymap.Stay, keymap.No:
		return m.closeDialog()
	case keymap.Up:
		d.selected = moved(d.selected, -1, len(d.choices))
	case keymap.Down:
		d.selected = moved(d.selected, 1, len(d.choices))
	case keymap.Open:
		return d.choices[d.selected].do()
	}
	return nil
}

func (d *dialog) draw(m *model, width, height int) string {
	v := view.Dialog{Theme: m.theme, Title: d.title, Lines: d.lines, Selected: d.selected}
	for _, c := range d.choices {
		v.Choices = append(v.Choices, view.Choice{Key: c.key, Text: c.text})
	}
	return v.Draw(width, height)
}
