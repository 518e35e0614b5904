// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// maxApprovers bounds the choices of askApprover: each has a digit for its key.
const maxApprovers = 9

// askApprover opens the choice of the name in which to approve a stage with named approvers.
func (a *actions) askApprover() {
	stage := a.chosen.stage()
	names := stage.GetApprovers()
	d := &dialog{
		host: a.host, overlays: a.overlays,
		scope: keymap.ChoiceDialog,
		title: "Approve " + text.Line(state.StageWord(stage)) + " as",
		lines: []string{commitLine(a.chosen.deployment()), "It needs an approval of one of these users. The stage " +
			"also records that " + a.host.cfg.Commander + " gave the approval."},
	}
	if subject := stage.GetApprovalSubject(); subject != "" {
		d.lines = append(d.lines, "It "+text.Line(subject)+".")
	}
	if more := len(names) - maxApprovers; more > 0 {
		names = names[:maxApprovers]
		d.lines = append(d.lines, fmt.Sprintf("For the other %d, run: %s --as NAME", more,
			a.same(keymap.Approve)))
	}
	request := a.approval()
	for i, name := range names {
		d.choices = append(d.choices, choice{keymap.Pick, fmt.Sprint(i + 1), text.Line(name), func() tea.Cmd {
			a.overlays.pop()
			request.Commander = name
			a.approved, a.approvedAt = request, a.host.now
			return a.start(a.approve(stage, request))
		}})
	}
	d.choices = append(d.choices, choice{keymap.No, "", "no", a.overlays.pop})
	d.selected = len(d.choices) - 1
	a.overlays.push(d)
}

// confirm opens a dialog whose first answer is no. The lines say what happens, command is the same in a shell.
// Where the key file turns questions off, it does so at once.
func (a *actions) confirm(title, command string, do tea.Cmd, lines ...string) tea.Cmd {
	if a.host.file.NeverAsk {
		return a.start(do)
	}
	a.overlays.push(&dialog{
		host: a.host, overlays: a.overlays,
		scope: keymap.ConfirmDialog,
		title: title,
		lines: append(lines, "As a command: "+command),
		choices: []choice{
			{keymap.Yes, "", "yes", func() tea.Cmd { a.overlays.pop(); return a.start(do) }},
			{keymap.No, "", "no", a.overlays.pop},
		},
		selected: 1,
	})
	return nil
}

// askSkip asks about the stage that is selected now; the answer is for this stage also when another one is selected
// meanwhile.
func (a *actions) askSkip() tea.Cmd {
	stage, do := a.chosen.stage(), a.skip()
	name := text.Line(state.StageWord(stage))
	return a.confirm("Skip "+name+"?", a.same(keymap.Skip), do,
		commitLine(a.chosen.deployment()), "The stage ends at once and counts as passed. The stages after it start.")
}

// askSync asks whether to deploy, and by which strategy.
func (a *actions) askSync() tea.Cmd {
	app := a.chosen.application()
	if a.host.file.NeverAsk {
		return a.start(a.sync(app, ""))
	}
	sync := func(strategy string) func() tea.Cmd {
		return func() tea.Cmd { a.overlays.pop(); return a.start(a.sync(app, strategy)) }
	}
	a.overlays.push(&dialog{
		host: a.host, overlays: a.overlays, scope: keymap.ConfirmDialog,
		title: "Deploy the newest commit of " + a.chosen.name() + "?",
		lines: []string{"piped plans a deployment and runs its stages.", "As a command: " + a.same(keymap.Sync)},
		choices: []choice{
			{keymap.Yes, "", "yes, piped chooses the strategy", sync("")},
			{keymap.Pick, "1", "yes, by a quick sync", sync("QUICK_SYNC")},
			{keymap.Pick, "2", "yes, by its pipeline", sync("PIPELINE")},
			{keymap.No, "", "no", a.overlays.pop},
		},
		selected: 3,
	})
	return nil
}

func (a *actions) askRestart() tea.Cmd {
	plugin, do := a.plugins.plugin(), a.restart()
	name := a.link.deck.PluginName(plugin)
	return a.confirm("Restart "+name+"?", a.same(keymap.Restart), do,
		"Its process stops. Each stage that it runs starts again as a new attempt.")
}

// askCancel opens the confirmation of c. What is asked first is what the application would do by itself.
func (a *actions) askCancel() tea.Cmd {
	deployment := a.chosen.deployment()
	id := deployment.GetId()
	cancel := func(rollback deckv1.CancelDeploymentRequest_Rollback) func() tea.Cmd {
		return func() tea.Cmd { a.overlays.pop(); return a.start(a.cancel(id, rollback)) }
	}
	rollingBack := deployment.GetStatus() == deckv1.DeploymentStatus_DEPLOYMENT_STATUS_ROLLING_BACK
	if a.host.file.NeverAsk && !rollingBack {
		return a.start(a.cancel(id, deckv1.CancelDeploymentRequest_ROLLBACK_UNSPECIFIED))
	}
	line := "A running stage is stopped."
	choices := []choice{{keymap.Yes, "", "yes, cancel it", cancel(deckv1.CancelDeploymentRequest_ROLLBACK_UNSPECIFIED)}}
	switch {
	case rollingBack:
		line = "The rollback is stopped, and what is there is left as it is."
		choices = []choice{{keymap.Yes, "", "yes, stop the rollback",
			cancel(deckv1.CancelDeploymentRequest_ROLLBACK_NONE)}}
	case slices.ContainsFunc(deployment.GetStages(), (*deckv1.Stage).GetRollback):
		line = "A running stage is stopped, then the application is rolled back."
		choices = append(choices, choice{keymap.Otherwise, "", "yes, but without the rollback",
			cancel(deckv1.CancelDeploymentRequest_ROLLBACK_NONE)})
	case deployment.GetRollbackOnRequest():
		line = "A running stage is stopped. The application is left as it is then."
		choices = append(choices, choice{keymap.Otherwise, "", "yes, and roll it back",
			cancel(deckv1.CancelDeploymentRequest_ROLLBACK_FORCED)})
	}
	a.overlays.push(&dialog{
		host: a.host, overlays: a.overlays,
		scope:    keymap.ConfirmDialog,
		title:    "Cancel the deployment of " + a.chosen.name() + "?",
		lines:    []string{commitLine(deployment), line, "As a command: " + a.same(keymap.Cancel)},
		choices:  append(choices, choice{keymap.No, "", "no", a.overlays.pop}),
		selected: len(choices),
	})
	return nil
}
