// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/text"
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
	m.help, m.log.Typing, m.ignoring = false, nil, false
	m.dialog = &dialog{
		scope: keymap.QuitDialog,
		title: "Leave pipedeck",
		lines: []string{"What should happen to the environment?"},
		choices: []choice{
			{"y", "keep it running and leave", func() tea.Cmd { return m.leave(LeaveRunning) }},
			{"t", "tear it down and leave", m.askTearDown},
			{"esc", "stay here", m.closeDialog},
		},
	}
}

// askTearDown opens the confirmation of the choice that deletes.
func (m *model) askTearDown() tea.Cmd {
	m.dialog = &dialog{
		scope: keymap.ConfirmDialog,
		title: "Tear down " + m.cfg.Name + "?",
		lines: []string{"Its clusters, its history and its sample repository are deleted. Your own repository is " +
			"left as it is."},
		choices: []choice{
			{"y", "yes, tear it down", func() tea.Cmd { return m.leave(TearDown) }},
			{"n", "no", m.closeDialog},
		},
		selected: 1,
	}
	return nil
}

// maxApprovers bounds the choices of askApprover: each has a digit for its key.
const maxApprovers = 9

// askApprover opens the choice of the name in which to approve a stage with named approvers.
func (m *model) askApprover() {
	stage := m.stage()
	names := stage.GetApprovers()
	d := &dialog{
		scope: keymap.ChoiceDialog,
		title: "Approve " + text.Line(stage.GetName()) + " as",
		lines: []string{"It needs an approval of one of these users. The stage keeps that " + m.cfg.Commander +
			" gave it."},
	}
	if more := len(names) - maxApprovers; more > 0 {
		names = names[:maxApprovers]
		d.lines = append(d.lines, fmt.Sprintf("For the other %d, run: pipedeck approve --as NAME", more))
	}
	request := m.approval()
	for i, name := range names {
		d.choices = append(d.choices, choice{fmt.Sprint(i + 1), text.Line(name), func() tea.Cmd {
			m.dialog = nil
			request.Commander = name
			return m.approve(stage.GetName(), request)
		}})
	}
	d.choices = append(d.choices, choice{"esc", "no", m.closeDialog})
	m.dialog = d
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
		choices = append(choices, choice{"r", "yes, but without the rollback",
			cancel(deckv1.CancelDeploymentRequest_ROLLBACK_NONE)})
	case deployment.GetRollbackOnRequest():
		line = "A running stage is stopped. The application is left as it is then."
		choices = append(choices, choice{"r", "yes, and roll it back",
			cancel(deckv1.CancelDeploymentRequest_ROLLBACK_FORCED)})
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

// answer takes an action while the dialog is open; key is what was pressed for it.
func (m *model) answer(action keymap.Action, key string) tea.Cmd {
	d := m.dialog
	switch action {
	case keymap.Interrupt:
		if d.scope == keymap.QuitDialog {
			return m.leave(LeaveRunning)
		}
		m.askLeave()
	case keymap.Pick:
		if i := slices.IndexFunc(d.choices, func(c choice) bool { return c.key == key }); i >= 0 {
			return d.choices[i].do()
		}
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
