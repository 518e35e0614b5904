// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

// maxTargets is how many choices of askTarget have a digit for their key.
const maxTargets = 9

// hashWidth is how much of a commit's hash is shown.
const hashWidth = 7

// pastReasons adds why the selected application cannot be retried or rolled back.
func (a *actions) pastReasons(reasons keymap.Reasons) {
	app := a.chosen.application()
	_, retry := a.link.deck.Retryable(app)
	_, back := a.link.deck.RollbackTargets(app)
	if retry == "" && a.chosen.earlier() {
		retry = "the screen shows an earlier deployment; go to the newest with " + a.host.key(keymap.Follow)
	}
	for action, reason := range map[keymap.Action]string{keymap.Retry: retry, keymap.Rollback: back} {
		if reason != "" {
			reasons[action] = reason
		}
	}
}

// askRetry asks whether to deploy the commit of the newest deployment again.
func (a *actions) askRetry() tea.Cmd {
	app := a.chosen.application()
	deployment, _ := a.link.deck.Retryable(app)
	name := text.Line(a.chosen.name())
	request := &deckv1.RetryDeploymentRequest{DeploymentId: deployment.GetId(), Commander: a.host.cfg.Commander}
	do := a.call("asked to retry "+name, "retry "+name,
		func(ctx context.Context, client deckv1.DeckServiceClient) error {
			_, err := client.RetryDeployment(ctx, request)
			return err
		})
	return a.confirm("Retry the deployment of "+name+"?", a.same(keymap.Retry), do,
		"piped deploys commit "+hashOf(deployment)+" again, by the same strategy and from the first stage.")
}

// rollBack asks which deployment to roll back to. In the history it is the one under the cursor, where that is
// possible.
func (a *actions) rollBack(under *deckv1.Deployment) tea.Cmd {
	targets, _ := a.link.deck.RollbackTargets(a.chosen.application())
	if a.screen.focus == keymap.History && slices.Contains(targets, under) {
		return a.askRollback(under)
	}
	a.askTarget(targets)
	return nil
}

// askTarget opens the choice of the deployment to roll back to.
func (a *actions) askTarget(targets []*deckv1.Deployment) {
	d := dialog{
		host: a.host, overlays: a.overlays, scope: keymap.ListDialog,
		title: "Roll back " + text.Line(a.chosen.name()) + " to",
		lines: []string{fmt.Sprintf("%s deployed with success, the newest first. %s finds one.",
			view.Count(len(targets), "commit"), a.host.file.Map.Key(keymap.ListDialog, keymap.Search))},
		choices: []choice{{keymap.No, "", "no", a.overlays.pop}},
	}
	for i, target := range targets {
		one := choice{keymap.Pick, "", a.target(target), func() tea.Cmd {
			a.overlays.pop()
			return a.askRollback(target)
		}}
		if i < maxTargets {
			one.key = fmt.Sprint(i + 1)
		}
		d.choices = append(d.choices, one)
	}
	a.overlays.push(newChooser(d))
}

// target describes a deployment to roll back to: commit, age, versions and message.
func (a *actions) target(d *deckv1.Deployment) string {
	parts := []string{hashOf(d), view.Age(state.Elapsed(d.GetCreatedAt(), nil, a.host.now))}
	if versions := strings.Join(d.GetVersions(), ", "); versions != "" {
		parts = append(parts, text.Line(versions))
	}
	return strings.Join(append(parts, text.FirstLine(d.GetCommit().GetMessage())), "  ")
}

// askRollback asks whether to deploy the commit of an earlier deployment, and by which strategy.
func (a *actions) askRollback(target *deckv1.Deployment) tea.Cmd {
	name := text.Line(a.chosen.name())
	back := func(strategy string) tea.Cmd {
		request := &deckv1.RollBackApplicationRequest{
			DeploymentId: target.GetId(), Commander: a.host.cfg.Commander, Strategy: strategy,
		}
		return a.call("asked to roll "+name+" back to "+hashOf(target), "roll "+name+" back",
			func(ctx context.Context, client deckv1.DeckServiceClient) error {
				_, err := client.RollBackApplication(ctx, request)
				return err
			})
	}
	if a.host.file.NeverAsk {
		return a.start(back(""))
	}
	yes := func(strategy string) func() tea.Cmd {
		return func() tea.Cmd { a.overlays.pop(); return a.start(back(strategy)) }
	}
	a.overlays.push(&dialog{
		host: a.host, overlays: a.overlays, scope: keymap.ConfirmDialog,
		title: "Roll back " + name + " to " + hashOf(target) + "?",
		lines: []string{
			"Live then differs from Git: " + name + " is out of sync until the next commit or sync, which deploys " +
				"the newest commit.",
			"As a command: " + a.command([]string{"rollback",
				a.link.deck.ApplicationArgument(a.chosen.application()), "--to", target.GetId()}),
		},
		choices: []choice{
			{keymap.Yes, "", "yes, piped chooses the strategy", yes("")},
			{keymap.Pick, "1", "yes, by a quick sync", yes("QUICK_SYNC")},
			{keymap.Pick, "2", "yes, by its pipeline", yes("PIPELINE")},
			{keymap.No, "", "no", a.overlays.pop},
		},
		selected: 3,
	})
	return nil
}

func hashOf(d *deckv1.Deployment) string {
	return text.Cut(text.Line(d.GetCommit().GetHash()), hashWidth, "")
}
