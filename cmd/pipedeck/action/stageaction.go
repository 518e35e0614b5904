// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"errors"
	"fmt"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/tui/state"
)

// stageAction is what a user can do with a stage that waits for that.
type stageAction struct {
	// done is the past participle of the subcommand.
	done string
	// can reports whether a stage waits for the action.
	can func(*deckv1.Stage) bool
}

func approving() stageAction { return stageAction{"approved", (*deckv1.Stage).GetCanApprove} }

func skipping() stageAction { return stageAction{"skipped", (*deckv1.Stage).GetCanSkip} }

func continuing() stageAction { return stageAction{"continued", state.Paused} }

// waitingStage is a stage that waits for an action of a user.
type waitingStage struct {
	deployment *deckv1.Deployment
	stage      *deckv1.Stage
	// args name this stage and no other one.
	args []string
}

// fitsDeployment returns how well a word fits the application or the deployment.
func (w waitingStage) fitsDeployment(word string) int {
	return max(resolve.FitWhole(word, w.deployment.GetApplicationName(), w.deployment.GetApplicationId()),
		resolve.Fit(word, w.deployment.GetId()))
}

func (w waitingStage) fitsStage(word string) int {
	return resolve.FitWhole(word, resolve.StageNames(w.stage)...)
}

func (w waitingStage) fitsEither(word string) int {
	return max(w.fitsDeployment(word), w.fitsStage(word))
}

// find finds the stage that the arguments name: [APP|DEPLOYMENT] [STAGE]. A single argument is either. Without
// arguments it is the only stage that waits. Where several fit, the error has a command for each.
func (a stageAction) find(l *resolve.Line) (waitingStage, error) {
	all, args := a.all(l), l.Args()
	found := all
	switch len(args) {
	case 0:
	case 1:
		found = resolve.Best(all, func(w waitingStage) int { return w.fitsEither(args[0]) })
	default:
		found = resolve.Best(all, func(w waitingStage) int { return w.fitsDeployment(args[0]) })
		found = resolve.Best(found, func(w waitingStage) int { return w.fitsStage(args[1]) })
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return waitingStage{}, a.notWaiting(l, all)
	}
	about := ""
	if len(args) > 0 {
		about = fmt.Sprintf(" and fit %q", strings.Join(args, " "))
	}
	return waitingStage{}, exit.Usage(fmt.Errorf("%d stages wait to be %s%s", len(found), a.done, about),
		oneOf(l, found))
}

// notWaiting says why no stage fits the arguments.
func (a stageAction) notWaiting(l *resolve.Line, all []waitingStage) error {
	problem, args := errors.New("no stage waits to be "+a.done), l.Args()
	if len(args) > 0 {
		problem = fmt.Errorf("no stage %q waits to be %s", strings.Join(args, " "), a.done)
	}
	var of string
	if len(args) > 0 {
		target, err := l.Argument(0).Target()
		switch {
		case err == nil:
			of = target.Application.GetName()
		case len(args) == 2:
			return err
		}
	}
	switch {
	case len(args) == 2:
		problem = fmt.Errorf("no stage %q of %s waits to be %s", args[1], of, a.done)
	case of != "":
		problem = fmt.Errorf("no stage of %s waits to be %s", of, a.done)
	}
	if len(all) == 0 {
		return exit.Usage(problem, "see pipedeck deployments")
	}
	return exit.Usage(problem, oneOf(l, all))
}

// all returns all stages that wait for the action, those of the newest deployment first.
func (a stageAction) all(l *resolve.Line) (all []waitingStage) {
	for _, d := range l.State.AllDeployments() {
		for _, stage := range d.GetStages() {
			if a.can(stage) {
				all = append(all, waitingStage{deployment: d, stage: stage})
			}
		}
	}
	ofApp := map[string][]*deckv1.Stage{}
	for _, w := range all {
		ofApp[w.deployment.GetApplicationName()] = append(ofApp[w.deployment.GetApplicationName()], w.stage)
	}
	for i, w := range all {
		app := w.deployment.GetApplicationName()
		stage := state.StageArgument(ofApp[app], w.stage)
		if stage == w.stage.GetId() { // of several pipeds, or twice in one pipeline
			app = w.deployment.GetApplicationId()
		}
		all[i].args = []string{app, stage}
	}
	return all
}

// oneOf lists the commands of stages, one on each line where there are several.
func oneOf(l *resolve.Line, stages []waitingStage) string {
	var candidates []resolve.Candidate
	for _, w := range stages {
		candidates = append(candidates, resolve.Candidate{
			Command: l.Command(w.args...), About: resolve.AboutStage(w.stage) + " of the " + l.About(w.deployment),
		})
	}
	return resolve.OneOf(candidates, "see pipedeck deployments")
}

// namedApprovers says whose approval the stage needs and how to give it.
func (w waitingStage) namedApprovers(l *resolve.Line, name string) error {
	approvers := w.stage.GetApprovers()
	return exit.Usage(
		fmt.Errorf("stage %s of %s needs an approval of %s, not of %s", state.StageWord(w.stage),
			w.deployment.GetApplicationName(), strings.Join(approvers, " or "), name),
		l.CommandWith("as", approvers[0], w.args...))
}
