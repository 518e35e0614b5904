// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
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

// askCancel opens the confirmation of c. What is asked first is what the application would do by itself.
func (m *model) askCancel() {
	deployment := m.deployment()
	id := deployment.GetId()
	cancel := func(rollback deckv1.CancelDeploymentRequest_Rollback) func() tea.Cmd {
		return func() tea.Cmd { m.dialog = nil; return m.cancel(id, rollback) }
	}
	line := "A running stage is stopped."
	choices := []choice{{"y", "yes, cancel it", cancel(deckv1.CancelDeploymentRequest_ROLLBACK_UNSPECIFIED)}}
	switch {
	case slices.ContainsFunc(deployment.GetStages(), (*deckv1.Stage).GetRollback):
		line = "A running stage is stopped, then the application is rolled back."
		choices = append(choices, choice{"r", "yes, but without the rollback", cancel(deckv1.CancelDeploymentRequest_ROLLBACK_NONE)})
	case deployment.GetRollbackOnRequest():
		line = "A running stage is stopped. The application is left as it is then."
		choices = append(choices, choice{"r", "yes, and roll it back", cancel(deckv1.CancelDeploymentRequest_ROLLBACK_FORCED)})
	}
	m.dialog = &dialog{
		scope:    keymap.ConfirmDialog,
		title:    "Cancel the deployment of " + deployment.GetApplicationName() + "?",
		lines:    []string{line},
		choices:  append(choices, choice{"n", "no", m.closeDialog}),
		selected: len(choices),
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
	case keymap.Otherwise:
		if len(d.choices) > 2 {
			return d.choices[1].do()
		}
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
