// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// same is the command that does in a shell what an action does now; empty for those without one.
func (a *actions) same(action keymap.Action) string {
	if a.host.cfg.Guest != nil {
		return "" // the environment is on another machine than that shell
	}
	app := a.link.deck.ApplicationArgument(a.chosen.application())
	command := []string(nil)
	switch action {
	case keymap.Approve:
		command = withNames("approve", app, a.stageThat((*deckv1.Stage).GetCanApprove))
	case keymap.Skip:
		command = withNames("skip", app, a.stageThat((*deckv1.Stage).GetCanSkip))
	case keymap.Break:
		command = breaks{a}.breakCommand(app)
	case keymap.Cancel:
		command = withNames("cancel", a.cancelArgument())
	case keymap.Sync, keymap.PutBack:
		command = withNames("sync", app)
	case keymap.Retry:
		command = withNames("retry", app)
	case keymap.Rollback:
		command = withNames("rollback", app)
	case keymap.Reach:
		command = withNames("open", app)
	case keymap.Restart:
		command = withNames("restart", a.plugins.plugin().GetName())
	case keymap.ShowLog:
		command = withNames("logs", app)
	case keymap.ShowEnvironment:
		command = []string{"status"}
	case keymap.ShowApplications:
		command = []string{"apps"}
	case keymap.ShowPreview:
		command = a.preview.command()
	case keymap.ShowHistory:
		command = []string{"deployments"}
	}
	if command == nil {
		return ""
	}
	return a.command(command)
}

// stageThat names the selected stage to a command that is about stages with this ability.
func (a *actions) stageThat(can func(*deckv1.Stage) bool) string {
	return state.StageArgument(state.StagesThat(a.chosen.deployment(), can), a.chosen.stage())
}

// cancelArgument names the shown deployment to the command that cancels it: by its application where that has only this
// one under way, and by its id otherwise.
func (a *actions) cancelArgument() string {
	app, shown := a.chosen.application(), a.chosen.deployment()
	for _, one := range a.link.deck.Deployments(app.GetId()) {
		if one.GetId() != shown.GetId() && !state.Ended(one.GetStatus()) {
			return shown.GetId()
		}
	}
	if a.link.deck.ApplicationArgument(app) != app.GetName() {
		return shown.GetId() // the command knows no id of an application
	}
	return app.GetName()
}

// commitLine names what a deployment deploys, for a dialog about it.
func commitLine(d *deckv1.Deployment) string {
	return "Commit " + hashOf(d) + ": " + text.FirstLine(d.GetCommit().GetMessage())
}

// withNames is a command about named things; nil while one is missing.
func withNames(command string, names ...string) []string {
	for _, name := range names {
		if name == "" {
			return nil
		}
	}
	return append([]string{command}, names...)
}

// command is a command of pipedeck for this environment.
func (a *actions) command(args []string) string {
	line := "pipedeck"
	for _, arg := range args {
		line += " " + text.ShellWord(text.Line(arg))
	}
	return line + a.host.cfg.Flags
}
