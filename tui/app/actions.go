// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

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
	// asked: it was started by actions.start.
	asked bool
	// address is where the application app is reached; empty unless that was asked.
	app, address string
}

// actions are what the user can ask the environment for.
type actions struct {
	host    *host
	link    *link
	chosen  *selection
	plugins *pluginsPane
	// resources names the resource to put back.
	resources *resourcesPane
	// preview names the branch for the command that does the same.
	preview  *previewPane
	screen   *screen
	overlays *overlays
	// uncarded is why there is no card now; empty when there is one.
	uncarded func() string
	// pending is how many answers are missing.
	pending int
	// approved is the approval that was sent last, at approvedAt.
	approved   *deckv1.ApproveStageRequest
	approvedAt time.Time
}

// start counts an action that begins now.
func (a *actions) start(action tea.Cmd) tea.Cmd {
	a.pending++
	return action
}

// doublePress is the time after an approval within which a is taken for a key that was pressed twice.
const doublePress = time.Second

// call runs an action in the background and reports it.
func (a *actions) call(done, doing string, f func(ctx context.Context, client deckv1.DeckServiceClient) error) tea.Cmd {
	client := a.link.client
	return a.host.work.do(func(ctx context.Context) tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		if err := f(ctx, client); err != nil {
			return actionMsg{asked: true, err: fmt.Errorf("cannot %s: %s", doing, plain(err))}
		}
		return actionMsg{asked: true, done: done}
	})
}

// startApproval approves the selected stage, or asks first for the name to approve in. The application stays selected:
// the next one that waits does not take its place under the key.
func (a *actions) startApproval() tea.Cmd {
	stage := a.chosen.stage()
	a.chosen.appPinned = true
	if approvers := stage.GetApprovers(); len(approvers) > 0 && !slices.Contains(approvers, a.host.cfg.Commander) {
		a.askApprover()
		return nil
	}
	request := a.approval()
	if a.host.now.Sub(a.approvedAt) < doublePress && (a.approved.GetStageId() != request.GetStageId() ||
		a.approved.GetDeploymentId() != request.GetDeploymentId()) {
		return a.confirm("Approve "+text.Line(state.StageWord(stage))+" as well?",
			a.same(keymap.Approve), a.approve(stage, request), commitLine(a.chosen.deployment()),
			"It is another stage than the one that was approved a moment ago.")
	}
	a.approved, a.approvedAt = request, a.host.now
	return a.start(a.approve(stage, request))
}

// approval asks to approve the selected stage in the user's own name.
func (a *actions) approval() *deckv1.ApproveStageRequest {
	return &deckv1.ApproveStageRequest{
		DeploymentId: a.chosen.deployment().GetId(), StageId: a.chosen.stage().GetId(), Commander: a.host.cfg.Commander,
		User: a.host.cfg.Commander,
	}
}

func (a *actions) approve(stage *deckv1.Stage, request *deckv1.ApproveStageRequest) tea.Cmd {
	name := state.StageWord(stage) + " of " + a.link.deck.Deployment(request.GetDeploymentId()).GetApplicationName()
	done := "approved " + name
	if request.GetCommander() != request.GetUser() {
		done += " as " + text.Line(request.GetCommander())
	}
	return a.call(done, "approve "+name, func(ctx context.Context, client deckv1.DeckServiceClient) error {
		_, err := client.ApproveStage(ctx, request)
		return err
	})
}

func (a *actions) skip() tea.Cmd {
	request := &deckv1.SkipStageRequest{
		DeploymentId: a.chosen.deployment().GetId(), StageId: a.chosen.stage().GetId(), Commander: a.host.cfg.Commander,
	}
	name := state.StageWord(a.chosen.stage())
	return a.call("asked to skip "+name, "skip "+name,
		func(ctx context.Context, client deckv1.DeckServiceClient) error {
			_, err := client.SkipStage(ctx, request)
			return err
		})
}

// sync deploys the newest commit by a strategy; the empty one lets piped choose.
func (a *actions) sync(app *deckv1.Application, strategy string) tea.Cmd {
	name := a.link.deck.ApplicationName(app)
	return a.syncFor(app, strategy, "asked to deploy "+name, "deploy "+name)
}

// syncFor is sync with the words for its outcome.
func (a *actions) syncFor(app *deckv1.Application, strategy, done, doing string) tea.Cmd {
	request := &deckv1.SyncApplicationRequest{ApplicationId: app.GetId(), Strategy: strategy}
	return a.call(done, doing,
		func(ctx context.Context, client deckv1.DeckServiceClient) error {
			_, err := client.SyncApplication(ctx, request)
			return err
		})
}

func (a *actions) cancel(deployment string, rollback deckv1.CancelDeploymentRequest_Rollback) tea.Cmd {
	request := &deckv1.CancelDeploymentRequest{
		DeploymentId: deployment, Commander: a.host.cfg.Commander, Rollback: rollback,
	}
	return a.call("asked to cancel the deployment", "cancel the deployment",
		func(ctx context.Context, client deckv1.DeckServiceClient) error {
			_, err := client.CancelDeployment(ctx, request)
			return err
		})
}

func (a *actions) restart() tea.Cmd {
	plugin := a.plugins.plugin()
	name := a.link.deck.PluginName(plugin)
	request := &deckv1.RestartPluginRequest{Name: plugin.GetName(), PipedId: plugin.GetPipedId()}
	return a.call("restarting "+name, "restart "+name,
		func(ctx context.Context, client deckv1.DeckServiceClient) error {
			_, err := client.RestartPlugin(ctx, request)
			return err
		})
}

// reach makes the application reachable, says its address, and shows it in a browser where one can
// be seen.
func (a *actions) reach() tea.Cmd {
	app, client, environ := a.chosen.application(), a.link.client, a.host.cfg.Environ
	id, name := app.GetId(), a.chosen.name()
	return a.host.work.do(func(ctx context.Context) tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		opened, err := client.OpenApplication(ctx, &deckv1.OpenApplicationRequest{ApplicationId: id})
		if err != nil {
			return actionMsg{asked: true, err: fmt.Errorf("cannot open %s: %s", name, plain(err))}
		}
		address := text.Line(opened.GetUrl())
		said := actionMsg{asked: true, app: id, address: address, done: address + " is " + name}
		switch err := browser.Open(ctx, environ, opened.GetUrl()); {
		case err == nil:
			said.done += ", opened in the browser"
		case errors.Is(err, browser.ErrNoDisplay), errors.Is(err, browser.ErrNoPage):
		default:
			said.done += " (" + text.Line(err.Error()) + ")"
		}
		return said
	})
}
