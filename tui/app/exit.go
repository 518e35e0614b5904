// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	tea "charm.land/bubbletea/v2"

	"github.com/pipedeck/pipedeck/tui/keymap"
)

// leaving is how the UI ends, and the questions before.
type leaving struct {
	host     *host
	overlays *overlays
	outcome  Outcome
	// err is set when the UI ends because of a bug.
	err error
	// waiting: the user has left; the UI ends with the answers to the actions under way.
	waiting bool
}

// leave ends the UI.
func (l *leaving) leave(outcome Outcome) tea.Cmd {
	l.outcome = outcome
	return tea.Quit
}

// crash ends the UI with an error.
func (l *leaving) crash(err error) tea.Cmd {
	l.err = err
	return tea.Quit
}

// ask opens the dialog of q instead of what is open. Who can change nothing, or sees a story,
// just leaves.
func (l *leaving) ask() tea.Cmd {
	if l.host.cfg.ReadOnly != "" || l.host.cfg.Guide != nil { // a story ends with its environment
		return l.leave(LeaveRunning)
	}
	l.overlays.replace(&dialog{
		host: l.host, overlays: l.overlays,
		scope: keymap.QuitDialog,
		title: "Leave pipedeck",
		lines: []string{"What should happen to the environment?"},
		choices: []choice{
			{keymap.KeepRunning, "", "keep it running and leave", func() tea.Cmd { return l.leave(LeaveRunning) }},
			{keymap.Stay, "", "stay here", l.overlays.pop},
			{keymap.TearDown, "", "tear it down and leave", l.askTearDown},
		},
	})
	return nil
}

// askTearDown opens the question of the choice that deletes.
func (l *leaving) askTearDown() tea.Cmd {
	l.overlays.replace(newTearDown(l))
	return nil
}
