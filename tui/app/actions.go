// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/browser"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// callTimeout bounds one action; a server on this machine that takes longer does not answer at all.
const callTimeout = 10 * time.Second

// actionMsg is the outcome of an action.
type actionMsg struct {
	done string
	err  error
}

// call runs an action in the background and reports it.
func (m *model) call(done, doing string, f func(ctx context.Context, client deckv1.DeckServiceClient) error) tea.Cmd {
	client := m.client
	return m.work.do(func(ctx context.Context) tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		if err := f(ctx, client); err != nil {
			return actionMsg{err: fmt.Errorf("cannot %s: %s", doing, text.Line(status.Convert(err).Message()))}
		}
		return actionMsg{done: done}
	})
}

// startApproval approves the selected stage, or asks first for the name to approve in.
func (m *model) startApproval() tea.Cmd {
	stage := m.stage()
	if approvers := stage.GetApprovers(); len(approvers) > 0 && !slices.Contains(approvers, m.cfg.Commander) {
		m.askApprover()
		return nil
	}
	return m.approve(stage.GetName(), m.approval())
}

// approval asks to approve the selected stage in the user's own name.
func (m *model) approval() *deckv1.ApproveStageRequest {
	return &deckv1.ApproveStageRequest{
		DeploymentId: m.deployment().GetId(), StageId: m.stage().GetId(), Commander: m.cfg.Commander,
		User: m.cfg.Commander,
	}
}

func (m *model) approve(stage string, request *deckv1.ApproveStageRequest) tea.Cmd {
	name, done := stage, "approved "+stage
	if request.GetCommander() != request.GetUser() {
		done += " as " + text.Line(request.GetCommander())
	}
	return m.call(done, "approve "+name, func(ctx context.Context, client deckv1.DeckServiceClient) error {
		_, err := client.ApproveStage(ctx, request)
		return err
	})
}

func (m *model) skip() tea.Cmd {
	request := &deckv1.SkipStageRequest{
		DeploymentId: m.deployment().GetId(), StageId: m.stage().GetId(), Commander: m.cfg.Commander,
	}
	name := m.stage().GetName()
	return m.call("asked to skip "+name, "skip "+name,
		func(ctx context.Context, client deckv1.DeckServiceClient) error {
			_, err := client.SkipStage(ctx, request)
			return err
		})
}

func (m *model) sync() tea.Cmd {
	app := m.application()
	request := &deckv1.SyncApplicationRequest{ApplicationId: app.GetId()}
	return m.call("asked to deploy "+app.GetName(), "deploy "+app.GetName(),
		func(ctx context.Context, client deckv1.DeckServiceClient) error {
			_, err := client.SyncApplication(ctx, request)
			return err
		})
}

func (m *model) cancel(deployment string, rollback deckv1.CancelDeploymentRequest_Rollback) tea.Cmd {
	request := &deckv1.CancelDeploymentRequest{DeploymentId: deployment, Commander: m.cfg.Commander, Rollback: rollback}
	return m.call("asked to cancel the deployment", "cancel the deployment",
		func(ctx context.Context, client deckv1.DeckServiceClient) error {
			_, err := client.CancelDeployment(ctx, request)
			return err
		})
}

func (m *model) restart() tea.Cmd {
	name := m.deck.PluginName(m.plugin())
	request := &deckv1.RestartPluginRequest{Name: m.plugin().GetName(), PipedId: m.plugin().GetPipedId()}
	return m.call("restarting "+name, "restart "+name,
		func(ctx context.Context, client deckv1.DeckServiceClient) error {
			_, err := client.RestartPlugin(ctx, request)
			return err
		})
}

// reach makes the application reachable, says its address, and shows it in a browser where one can
// be seen.
func (m *model) reach() tea.Cmd {
	app, client, environ := m.application(), m.client, m.cfg.Environ
	id, name := app.GetId(), app.GetName()
	return m.work.do(func(ctx context.Context) tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		opened, err := client.OpenApplication(ctx, &deckv1.OpenApplicationRequest{ApplicationId: id})
		if err != nil {
			return actionMsg{err: fmt.Errorf("cannot open %s: %s", name, text.Line(status.Convert(err).Message()))}
		}
		answers := text.Line(opened.GetUrl()) + " is " + name
		switch err := browser.Open(ctx, environ, opened.GetUrl()); {
		case err == nil:
			return actionMsg{done: answers + ", opened in the browser"}
		case errors.Is(err, browser.ErrNoDisplay), errors.Is(err, browser.ErrNoPage):
			return actionMsg{done: answers}
		default:
			return actionMsg{done: answers + " (" + text.Line(err.Error()) + ")"}
		}
	})
}

// simulated reports whether no container of an application runs where it is reached.
func (m *model) simulated(app *deckv1.Application) bool {
	environment := m.deck.Environment()
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

// stopped returns whether the environment's process was killed and none has taken its place.
func (m *model) stopped() bool { return errors.Is(m.trouble, ErrEnvironmentStopped) }

// reasons tells for each action that does nothing just now why.
func (m *model) reasons() keymap.Reasons {
	reasons := keymap.Reasons{}
	if !m.stopped() {
		reasons[keymap.StartAgain] = "it is running"
	}
	if m.client == nil || m.trouble != nil {
		for _, action := range []keymap.Action{keymap.Approve, keymap.Skip, keymap.Sync, keymap.Cancel, keymap.Restart,
			keymap.Reach} {
			reasons[action] = "not connected"
		}
		return reasons
	}
	deployment, stage := m.deployment(), m.stage()
	switch {
	case stage == nil:
		reasons[keymap.Approve], reasons[keymap.Skip] = "no stage is selected", "no stage is selected"
	default:
		if !stage.GetCanApprove() {
			reasons[keymap.Approve] = stage.GetName() + " does not wait for approval"
			if waiting := approvable(deployment); waiting != "" {
				reasons[keymap.Approve] = "select " + waiting + " first"
			}
		}
		if !stage.GetCanSkip() {
			reasons[keymap.Skip] = stage.GetName() + " cannot be skipped now"
		}
	}
	switch app := m.application(); {
	case app == nil:
		reasons[keymap.Sync], reasons[keymap.Reach] = "no application is selected", "no application is selected"
	default:
		if app.GetDisabled() {
			reasons[keymap.Sync] = app.GetName() + " is disabled"
		}
		if m.simulated(app) {
			reasons[keymap.Reach] = "the cluster is simulated, no container runs; use --cluster kind"
		}
	}
	switch {
	case deployment == nil:
		reasons[keymap.Cancel] = "there is no deployment"
	case state.Ended(deployment.GetStatus()):
		reasons[keymap.Cancel] = "the deployment has ended"
	}
	switch {
	case m.focus != keymap.Plugins:
		reasons[keymap.Restart] = "select a plugin first: 4"
	case m.plugin() == nil:
		reasons[keymap.Restart] = "no plugin has been started yet"
	}
	return reasons
}

func approvable(deployment *deckv1.Deployment) string {
	for _, stage := range deployment.GetStages() {
		if stage.GetCanApprove() {
			return stage.GetName()
		}
	}
	return ""
}
