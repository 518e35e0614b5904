// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"slices"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/state"
)

// simulated reports whether no container of an application runs where it is reached.
func (a *actions) simulated(app *deckv1.Application) bool {
	environment := a.link.deck.Environment()
	if len(app.GetDeployTargets()) == 0 {
		return environment.GetSimulated()
	}
	_, reached, _ := strings.Cut(app.GetDeployTargets()[0], "/")
	for _, cluster := range environment.GetClusters() {
		if cluster.GetName() == reached {
			return cluster.GetSimulated()
		}
	}
	return environment.GetSimulated()
}

// clustered reports whether an application is in a cluster, where it can be opened: one of this environment, or another
// one that a plugin for Kubernetes deploys to.
func clustered(app *deckv1.Application, environment *deckv1.Environment) bool {
	return slices.ContainsFunc(app.GetDeployTargets(), func(target string) bool {
		plugin, reached, _ := strings.Cut(target, "/")
		return strings.HasPrefix(plugin, "kubernetes") ||
			slices.ContainsFunc(environment.GetClusters(), func(c *deckv1.Cluster) bool {
				return c.GetName() == reached && c.GetKind() != noCluster
			})
	})
}

// asking are the actions that ask the environment for something.
func asking() []keymap.Action {
	return []keymap.Action{keymap.Approve, keymap.Skip, keymap.Break, keymap.Sync, keymap.Cancel, keymap.Restart,
		keymap.Retry, keymap.Rollback, keymap.Reach, keymap.LookNow, keymap.EditManifest, keymap.PutBack, keymap.PodLog,
		keymap.PodShell, keymap.Shell, keymap.Fault, keymap.Calls}
}

// reasons returns why, for each action that does nothing now.
func (a *actions) reasons() keymap.Reasons {
	reasons := keymap.Reasons{}
	largeReasons(a.host, a.screen, reasons)
	if reason := a.link.unstartable(a.host); reason != "" {
		reasons[keymap.StartAgain] = reason
	}
	if reason := a.uncarded(); reason != "" {
		reasons[keymap.ShowCard] = reason
	}
	if !a.link.answers() {
		unansweredReasons(a.link, a.host, reasons)
		return reasons
	}
	a.programs(reasons)
	deployment, stage := a.chosen.deployment(), a.chosen.stage()
	unready(reasons, deployment, stage)
	switch app := a.chosen.application(); {
	case app == nil:
		reasons[keymap.Sync] = "no application is selected"
		reasons[keymap.Reach], reasons[keymap.LookNow] = reasons[keymap.Sync], reasons[keymap.Sync]
	default:
		if app.GetDisabled() {
			reasons[keymap.Sync], reasons[keymap.LookNow] = app.GetName()+" is disabled", app.GetName()+" is disabled"
		}
		if len(app.GetDeployTargets()) > 0 && !clustered(app, a.link.deck.Environment()) {
			reasons[keymap.Reach] = app.GetName() + " is not deployed to a cluster"
		} else if a.simulated(app) {
			reasons[keymap.Reach] = "the cluster is simulated, no container runs; use --cluster kind"
		}
	}
	var resource *deckv1.Resource
	if a.screen.focus == keymap.Resources {
		resource = a.resources.selected()
	}
	if reason := a.unreturned(resource, reasons[keymap.Sync]); reason != "" {
		reasons[keymap.PutBack] = reason
	}
	if reason := unlogged(a.host, a.screen, resource); reason != "" {
		reasons[keymap.PodLog], reasons[keymap.PodShell] = reason, reason
	} else if reason := shellsOf(a).refusalIn(); reason != "" {
		reasons[keymap.PodShell] = reason
	}
	a.pastReasons(reasons)
	switch {
	case deployment == nil:
		reasons[keymap.Cancel] = "there is no deployment"
	case state.Ended(deployment.GetStatus()):
		reasons[keymap.Cancel] = "the deployment has ended"
	}
	switch {
	case a.screen.focus != keymap.Plugins:
		reasons[keymap.Restart] = "select a plugin first: " + a.host.key(keymap.ShowPlugins)
	case a.plugins.plugin() == nil:
		reasons[keymap.Restart] = "no plugin has been started yet"
	}
	return lastReasons(a, reasons)
}

// unansweredReasons adds the reasons of an environment that does not answer.
func unansweredReasons(l *link, h *host, reasons keymap.Reasons) {
	for _, action := range asking() {
		reasons[action] = "not connected"
		if !l.silent.IsZero() {
			reasons[action] = "the environment does not answer"
		}
	}
	readOnlyReasons(h, reasons)
}

// lastReasons adds the reasons that count more than those of the deployment.
func lastReasons(a *actions, reasons keymap.Reasons) keymap.Reasons {
	a.unseen(reasons)
	readOnlyReasons(a.host, reasons)
	return reasons
}

// readOnlyReasons adds why nothing can be changed.
func readOnlyReasons(h *host, reasons keymap.Reasons) {
	for _, action := range h.refused() {
		reasons[action] = h.cfg.ReadOnly
	}
}

// refused are the actions that a UI that changes nothing never has; none for another one. Their keys say why, and no
// text offers them.
func (h *host) refused() []keymap.Action {
	if h.cfg.ReadOnly == "" {
		return nil
	}
	all := append(asking(), keymap.StartAgain, keymap.ShowCard)
	if h.cfg.Playback != nil {
		return append(all, keymap.ShowPreview, keymap.ShowInsights)
	}
	return slices.DeleteFunc(all, func(action keymap.Action) bool {
		return action == keymap.PodLog || action == keymap.Calls
	})
}

// programs adds why no program of the user, and no command of pipedeck, can be started.
func (a *actions) programs(reasons keymap.Reasons) {
	if reason := a.unedited(a.chosen.application()); reason != "" {
		reasons[keymap.EditManifest] = reason
	}
	if reason := shellsOf(a).refusal(); reason != "" {
		reasons[keymap.Shell] = reason
	}
	if reason := injectionsOf(a).refusal(a.chosen.stage()); reason != "" {
		reasons[keymap.Fault] = reason
	}
	if a.host.cfg.Command == nil {
		reasons[keymap.Calls] = noCommands
	}
}

// largeReasons adds what big mode does not have, and why it is not shown.
func largeReasons(h *host, s *screen, reasons keymap.Reasons) {
	switch {
	case h.look.Big:
		for _, action := range []keymap.Action{keymap.Zoom, keymap.Form, keymap.Fold, keymap.Times} {
			reasons[action] = "big mode has one form; " + h.key(keymap.Big) + " leaves it"
		}
	case !s.tabbed():
		reasons[keymap.Big] = fmt.Sprintf("it needs %dx%d", minTabWidth, minTabHeight)
	}
}

// unseen adds why nothing acts on a deployment from a screen that does not show it: a letter there may be meant for the
// name of a branch.
func (a *actions) unseen(reasons keymap.Reasons) {
	shown := map[keymap.Scope]string{keymap.Preview: "the plan preview", keymap.Insights: "the insights"}
	screen, hidden := shown[a.screen.focus]
	if !hidden {
		return
	}
	for _, action := range []keymap.Action{keymap.Approve, keymap.Skip, keymap.Break, keymap.Cancel, keymap.Sync,
		keymap.Retry, keymap.Rollback, keymap.Fault} {
		reasons[action] = "the screen shows " + screen + "; " + a.host.key(keymap.ShowDeployment) +
			" shows the deployment"
	}
}

// unready adds why the stage cannot be approved or skipped.
func unready(reasons keymap.Reasons, deployment *deckv1.Deployment, stage *deckv1.Stage) {
	if stage == nil {
		reasons[keymap.Approve], reasons[keymap.Skip] = "no stage is selected", "no stage is selected"
		reasons[keymap.Break] = "no stage is selected"
		return
	}
	if !stage.GetCanApprove() {
		reasons[keymap.Approve] = state.StageWord(stage) + " does not wait for approval"
		if waiting := approvable(deployment); waiting != "" {
			reasons[keymap.Approve] = "select " + waiting + " first"
		}
	}
	if !stage.GetCanSkip() {
		reasons[keymap.Skip] = state.StageWord(stage) + " cannot be skipped now"
	}
}

func approvable(deployment *deckv1.Deployment) string {
	for _, stage := range deployment.GetStages() {
		if stage.GetCanApprove() {
			return state.StageWord(stage)
		}
	}
	return ""
}
