// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// stageAction is what a user can do with a stage that waits for that.
type stageAction struct {
	// command is the subcommand; done is its past participle.
	command, done string
	// can reports whether a stage waits for the action.
	can func(*deckv1.Stage) bool
	// flags name the environment in commands for the user.
	flags string
}

func approving(flags string) stageAction {
	return stageAction{"approve", "approved", (*deckv1.Stage).GetCanApprove, flags}
}

func skipping(flags string) stageAction {
	return stageAction{"skip", "skipped", (*deckv1.Stage).GetCanSkip, flags}
}

// waitingStage is a stage that waits for an action of a user.
type waitingStage struct {
	deployment *deckv1.Deployment
	stage      *deckv1.Stage
	// command approves or skips this stage and no other one; flags name the environment in it.
	command, flags string
}

// find finds the stage that the arguments name: [APP] [STAGE]. An application or a stage may be given by name
// or id; a single argument is either. Without arguments it is the only stage that waits. Where several fit, the error
// has a command for each.
func (a stageAction) find(s *session.State, args []string) (waitingStage, error) {
	all := a.all(s)
	var found []waitingStage
	for _, w := range all {
		isApp := func(arg string) bool {
			return arg == w.deployment.GetApplicationName() || arg == w.deployment.GetApplicationId()
		}
		isStage := func(arg string) bool { return state.IsStage(w.stage, arg) }
		switch len(args) {
		case 0:
		case 1:
			if !isApp(args[0]) && !isStage(args[0]) {
				continue
			}
		default:
			if !isApp(args[0]) || !isStage(args[1]) {
				continue
			}
		}
		found = append(found, w)
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return waitingStage{}, a.notWaiting(s, args, all)
	}
	about := ""
	if len(args) > 0 {
		about = fmt.Sprintf(" and fit %q", strings.Join(args, " "))
	}
	return waitingStage{}, exit.Usage(fmt.Errorf("%d stages wait to be %s%s", len(found), a.done, about),
		oneOf(found))
}

// notWaiting says why no stage fits the arguments.
func (a stageAction) notWaiting(s *session.State, args []string, all []waitingStage) error {
	problem := errors.New("no stage waits to be " + a.done)
	if len(args) > 0 {
		problem = fmt.Errorf("no stage %q waits to be %s", strings.Join(args, " "), a.done)
	}
	apps := s.Applications()
	isApp := func(arg string) bool {
		return slices.ContainsFunc(apps, func(a *deckv1.Application) bool {
			return a.GetName() == arg ||
				a.GetId() == arg
		})
	}
	switch {
	case len(args) == 2 && !isApp(args[0]):
		problem = fmt.Errorf("there is no application %q", args[0])
	case len(args) == 2:
		problem = fmt.Errorf("no stage %q of %s waits to be %s", args[1], args[0], a.done)
	case len(args) == 1 && isApp(args[0]):
		problem = fmt.Errorf("no stage of %s waits to be %s", args[0], a.done)
	}
	if len(all) == 0 {
		return exit.Usage(problem, "see pipedeck deployments")
	}
	return exit.Usage(problem, oneOf(all))
}

// all returns all stages that wait for the action, those of the newest deployment first.
func (a stageAction) all(s *session.State) (all []waitingStage) {
	for _, d := range s.AllDeployments() {
		for _, stage := range d.GetStages() {
			if a.can(stage) {
				all = append(all, waitingStage{deployment: d, stage: stage, flags: a.flags})
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
		all[i].command = "pipedeck " + a.command + " " + text.ShellWord(app) + " " + text.ShellWord(stage)
	}
	return all
}

// maxChoices bounds the commands in an error.
const maxChoices = 10

// oneOf lists the commands of stages, one on each line where there are several.
func oneOf(stages []waitingStage) string {
	if len(stages) == 1 {
		return stages[0].command + stages[0].flags
	}
	hint := "run one of:"
	for _, w := range stages[:min(len(stages), maxChoices)] {
		hint += "\n  " + w.command + w.flags
	}
	if more := len(stages) - maxChoices; more > 0 {
		hint += fmt.Sprintf("\n  and %d more; see pipedeck deployments", more)
	}
	return hint
}

// namedApprovers says whose approval the stage needs and how to give it.
func (w waitingStage) namedApprovers(name string) error {
	approvers := w.stage.GetApprovers()
	return exit.Usage(
		fmt.Errorf("stage %s of %s needs an approval of %s, not of %s", state.StageWord(w.stage),
			w.deployment.GetApplicationName(), strings.Join(approvers, " or "), name),
		w.command+" --as "+text.ShellWord(approvers[0])+w.flags)
}
