// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ci

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

const (
	// approver approves where no stage names another one, and is recorded as the user who approves under those names.
	approver  = "pipedeck-ci"
	stageWait = "WAIT"
)

// attendant acts on the stages that wait: it approves them, shortens them, or names them with the remedy.
type attendant struct {
	actions Actions
	// say gets what was done, warn what a user has to know.
	say, warn func(string)
	flags     string
	// sent are the approvers whose approvals were sent, by the key of the stage.
	sent map[string][]string
	// done has the keys of what was said or skipped.
	done map[string]bool
}

func newAttendant(actions Actions, say, warn func(string), flags string) *attendant {
	return &attendant{actions: actions, say: say, warn: warn, flags: flags, sent: map[string][]string{},
		done: map[string]bool{}}
}

// waitingStage is a stage that runs.
type waitingStage struct {
	deck       *state.Deck
	deployment *deckv1.Deployment
	stage      *deckv1.Stage
}

// runningStages returns the stages that run now.
func runningStages(d *state.Deck) (stages []waitingStage) {
	for _, app := range d.Applications() {
		for _, one := range d.Deployments(app.GetId()) {
			if state.Ended(one.GetStatus()) {
				break // so have the earlier ones
			}
			for _, stage := range one.GetStages() {
				if stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_RUNNING {
					stages = append(stages, waitingStage{d, one, stage})
				}
			}
		}
	}
	return stages
}

// attend does what is due for the stages that run now.
func (a *attendant) attend(ctx context.Context, deck deckv1.DeckServiceClient, d *state.Deck) {
	for _, w := range runningStages(d) {
		switch {
		case w.stage.GetCanApprove():
			a.approve(ctx, deck, w)
		case w.stage.GetName() == stageWait && a.actions.FastWait:
			a.skip(ctx, deck, w)
		}
	}
}

// approve sends the approvals that the stage still needs, or names it.
func (a *attendant) approve(ctx context.Context, deck deckv1.DeckServiceClient, w waitingStage) {
	key := w.key()
	for {
		name := a.next(w, a.sent[key])
		if name == "" {
			if !a.enough(w, a.sent[key]) && a.once("named "+key) {
				a.warn(fmt.Sprintf("%s %s%s; approve it now with: %s; or %s", w.title(), w.need(), a.refused(w),
					w.command(a.flags), a.remedy()))
			}
			return
		}
		a.sent[key] = append(a.sent[key], name)
		err := request(ctx, func(ctx context.Context) error {
			_, err := deck.ApproveStage(ctx, &deckv1.ApproveStageRequest{
				DeploymentId: w.deployment.GetId(), StageId: w.stage.GetId(), Commander: name, User: approver,
			})
			return err
		}, codes.Unavailable, codes.DeadlineExceeded) // a user's approval counts once
		if err != nil && ctx.Err() == nil {
			a.warn(fmt.Sprintf("%s cannot be approved as %s: %s", w.title(), name, status.Convert(err).Message()))
		}
	}
}

// next is who approves next; empty when the run approves no more.
func (a *attendant) next(w waitingStage, sent []string) string {
	named := w.stage.GetApprovers()
	switch {
	case !a.actions.Approve, a.enough(w, sent):
		return ""
	case a.actions.As != "":
		if slices.Contains(sent, a.actions.As) || len(named) > 0 && !slices.Contains(named, a.actions.As) {
			return ""
		}
		return a.actions.As
	case len(named) == 0:
		// Anyone may approve, and each user counts once.
		if len(sent) == 0 {
			return approver
		}
		return fmt.Sprintf("%s-%d", approver, len(sent)+1)
	}
	for _, name := range named {
		if !slices.Contains(sent, name) {
			return name
		}
	}
	return ""
}

// refused says that the user in whose name the run approves may not approve the stage; empty where they may.
func (a *attendant) refused(w waitingStage) string {
	named := w.stage.GetApprovers()
	if a.actions.As == "" || len(named) == 0 || slices.Contains(named, a.actions.As) {
		return ""
	}
	return fmt.Sprintf(", and %s, whom --approve names, is not among its approvers", a.actions.As)
}

// enough reports whether the approvals that were sent and those that are counted are what the stage needs.
func (a *attendant) enough(w waitingStage, sent []string) bool {
	counted := slices.Clone(w.stage.GetApprovedBy())
	for _, name := range sent {
		if !slices.Contains(counted, name) {
			counted = append(counted, name)
		}
	}
	return len(counted) >= max(1, int(w.stage.GetApprovalsNeeded()))
}

// skip ends a WAIT stage.
func (a *attendant) skip(ctx context.Context, deck deckv1.DeckServiceClient, w waitingStage) {
	if !a.once("skip " + w.key()) {
		return
	}
	if !w.stage.GetCanSkip() {
		a.warn(w.title() + " is not shortened: its plugin does not allow it; set allowSkip: true in the plugin's " +
			"configuration")
		return
	}
	err := request(ctx, func(ctx context.Context) error {
		_, err := deck.SkipStage(ctx, &deckv1.SkipStageRequest{
			DeploymentId: w.deployment.GetId(), StageId: w.stage.GetId(), Commander: approver,
		})
		return err
	}, codes.Unavailable, codes.DeadlineExceeded)
	switch {
	case err == nil:
		a.say(w.title() + " is shortened, because of --wait fast")
	case status.Code(err) != codes.FailedPrecondition && ctx.Err() == nil: // it has ended by itself
		a.warn(w.title() + " cannot be shortened: " + status.Convert(err).Message())
	}
}

// once reports whether a thing is to be done, which is so once.
func (a *attendant) once(key string) bool {
	if a.done[key] {
		return false
	}
	a.done[key] = true
	return true
}

// waiting names the stages that wait for users.
func (a *attendant) waiting(d *state.Deck) (waiting []string) {
	for _, w := range runningStages(d) {
		if w.stage.GetCanApprove() {
			waiting = append(waiting, w.title()+" "+w.need()+a.refused(w))
		}
	}
	return waiting
}

// remedy is what makes a run approve.
func (a *attendant) remedy() string {
	return "run it again with --approve auto, or with --approve as:NAME to approve as one user"
}

func (w waitingStage) key() string {
	return fmt.Sprint(w.deployment.GetId(), " ", w.stage.GetId(), " ", w.stage.GetRetries())
}

func (w waitingStage) title() string {
	app := w.deck.Application(w.deployment.GetApplicationId())
	return fmt.Sprintf("%s: stage %s", w.deck.ApplicationName(app), state.StageWord(w.stage))
}

// need says whose approval the stage needs.
func (w waitingStage) need() string {
	by := ""
	if named := w.stage.GetApprovers(); len(named) > 0 {
		by = " of " + strings.Join(named, " or ")
	}
	needed := max(1, int(w.stage.GetApprovalsNeeded())) - len(w.stage.GetApprovedBy())
	if needed > 1 {
		return fmt.Sprintf("waits for %d approvals%s", needed, by)
	}
	return "waits for an approval" + by
}

// command approves the stage.
func (w waitingStage) command(flags string) string {
	app := w.deck.Application(w.deployment.GetApplicationId())
	waiting := state.StagesThat(w.deployment, (*deckv1.Stage).GetCanApprove)
	command := "pipedeck approve " + text.ShellWord(w.deck.ApplicationArgument(app)) + " " +
		text.ShellWord(state.StageArgument(waiting, w.stage))
	if named := w.stage.GetApprovers(); len(named) > 0 {
		command += " --as " + text.ShellWord(named[0])
	}
	return command + flags
}
