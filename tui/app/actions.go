// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
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

func (m *model) approve() tea.Cmd {
	request := &deckv1.ApproveStageRequest{
		DeploymentId: m.deployment().GetId(), StageId: m.stage().GetId(), Commander: m.cfg.Commander,
	}
	name := m.stage().GetName()
	return m.call("approved "+name, "approve "+name, func(ctx context.Context, client deckv1.DeckServiceClient) error {
		_, err := client.ApproveStage(ctx, request)
		return err
	})
}

func (m *model) skip() tea.Cmd {
	request := &deckv1.SkipStageRequest{
		DeploymentId: m.deployment().GetId(), StageId: m.stage().GetId(), Commander: m.cfg.Commander,
	}
	name := m.stage().GetName()
	return m.call("asked to skip "+name, "skip "+name, func(ctx context.Context, client deckv1.DeckServiceClient) error {
		_, err := client.SkipStage(ctx, request)
		return err
	})
}

func (m *model) sync() tea.Cmd {
	app := m.application()
	request := &deckv1.SyncApplicationRequest{ApplicationId: app.GetId()}
	return m.call("asked to deploy "+app.GetName(), "deploy "+app.GetName(), func(ctx context.Context, client deckv1.DeckServiceClient) error {
		_, err := client.SyncApplication(ctx, request)
		return err
	})
}

func (m *model) cancel(deployment string) tea.Cmd {
	request := &deckv1.CancelDeploymentRequest{DeploymentId: deployment, Commander: m.cfg.Commander}
	return m.call("asked to cancel the deployment", "cancel the deployment", func(ctx context.Context, client deckv1.DeckServiceClient) error {
		_, err := client.CancelDeployment(ctx, request)
		return err
	})
}

func (m *model) restart() tea.Cmd {
	name := m.plugin().GetName()
	return m.call("restarting "+name, "restart "+name, func(ctx context.Context, client deckv1.DeckServiceClient) error {
		_, err := client.RestartPlugin(ctx, &deckv1.RestartPluginRequest{Name: name})
		return err
	})
}

// reasons tells for each action that does nothing just now why.
func (m *model) reasons() keymap.Reasons {
	reasons := keymap.Reasons{}
	if m.client == nil || m.trouble != nil {
		for _, action := range []keymap.Action{keymap.Approve, keymap.Skip, keymap.Sync, keymap.Cancel, keymap.Restart} {
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
		reasons[keymap.Sync] = "no application is selected"
	case app.GetDisabled():
		reasons[keymap.Sync] = app.GetName() + " is disabled"
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
