// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ci

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/state"
)

// Run deploys a repository in an environment, or a range of it. It is for one goroutine.
type Run struct {
	outcome *Outcome
	options Options
	stages  *attendant
	// phase is nil for a run without a range.
	phase  *phase
	atHead bool
	// gone are the applications that HEAD removes; nil before HEAD.
	gone *removals
	// compared are all repositories, with the commits that the environment had before.
	compared comparisons
	// last is the state at the last step; it belongs to the reader of the events.
	last *state.Deck
	err  error
}

// Options are what a Run needs of the command.
type Options struct {
	// Repository is the repository at HEAD, with the applications that may be deployed.
	Repository *workspace.Repository
	// Further are other repositories on this machine, each of which is deployed at its Head.
	Further []*workspace.Repository
	// Range is nil without --from.
	Range   *Range
	Actions Actions
	// Move moves the watched branch to a commit. It must not block.
	Move func(commit string)
	// Switched is called when the branch moves from the base to HEAD.
	Switched func(base, head string)
	// Tolerates reports a failed deployment that does not fail the run; nil for none.
	Tolerates func(*deckv1.Deployment) bool
	// Say gets lines between the events, Warn lines for standard error.
	Say  func(text string)
	Warn func(text string)
	// Flags, each after a space, name the environment in commands for the user.
	Flags string
}

// NewRun begins a run: it moves the branch to the first commit. A run without a range leaves the branch alone.
func NewRun(o Options) *Run {
	r := &Run{
		outcome: &Outcome{Repository: o.Repository, Range: o.Range}, options: o,
		stages: newAttendant(o.Actions, o.Say, o.Warn, o.Flags), atHead: o.Range == nil,
		compared: compareAll(append([]*workspace.Repository{o.Repository}, o.Further...)),
	}
	switch {
	case o.Range == nil:
	case o.Range.Base.Head == o.Range.Head:
		r.phase, r.atHead = o.Range.phase(o.Range.Head, atBase), true
		o.Move(r.phase.commit)
	case o.Range.DeploysBase():
		r.phase = o.Range.phase(o.Range.Base.Head, atBase)
		o.Move(r.phase.commit)
	default:
		r.toHead(nil)
		o.Move(r.phase.commit)
	}
	return r
}

func (r *Run) toHead(stale map[string]string) {
	r.atHead = true
	r.phase = r.options.Range.phase(r.options.Range.Head, atHead)
	r.phase.stale = stale
}

// First is the repository as the run deploys it first.
func (r *Run) First() *workspace.Repository {
	switch {
	case r.options.Range == nil, r.atHead:
		return r.options.Repository
	default:
		return r.options.Range.SelectedBase()
	}
}

// Step acts on the state after an event, and reports whether the run has ended. Err is its result then.
func (r *Run) Step(ctx context.Context, deck deckv1.DeckServiceClient, d *state.Deck) (ended bool) {
	if r.outcome.Began.IsZero() {
		r.outcome.Began = time.Now()
	}
	r.last = d
	r.stages.attend(ctx, deck, d)
	if r.gone != nil {
		r.gone.attend(ctx, deck, d)
	}
	v := r.judge(d)
	switch {
	case !v.settled:
		return false
	case r.atHead:
		r.err = verdictOf(v)
		return true
	}
	r.outcome.Base = state.Clone(d)
	r.warnUnsound(d)
	if r.options.Tolerates != nil {
		v.failed = slices.DeleteFunc(v.failed, r.options.Tolerates)
	}
	if len(v.failed) > 0 {
		r.err = r.baseFailed(v)
		return true
	}
	stale := map[string]string{}
	for _, app := range v.broken {
		r.options.Warn(fmt.Sprintf("%s: not deployed at the base, its configuration is not valid there: %s",
			app.GetName(), app.GetSyncReason()))
	}
	for _, app := range d.Applications() {
		stale[app.GetId()] = app.GetSyncReason()
	}
	r.toHead(stale)
	r.gone = newRemovals(r.options.Range, d, r.options.Warn)
	r.outcome.removals = r.gone.all
	r.outcome.Switched = time.Now()
	r.options.Switched(r.options.Range.Base.Head, r.phase.commit)
	r.options.Move(r.phase.commit)
	return r.Step(ctx, deck, d)
}

// warnUnsound names the applications that the base has failed to deploy, and may.
func (r *Run) warnUnsound(d *state.Deck) {
	for _, app := range d.Applications() {
		newest := d.Newest(app.GetId())
		if newest != nil && r.phase.mayFail(app, newest) &&
			newest.GetStatus() != deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS {
			r.options.Warn(fmt.Sprintf("%s: not deployed at the base, where this environment cannot deploy it: %s",
				app.GetName(), r.options.Range.decision.unsound[fileOf(app)]))
		}
	}
}

// judge inspects the state for what the run deploys now.
func (r *Run) judge(d *state.Deck) verdict {
	if r.phase != nil {
		v := r.phase.judge(d)
		if r.atHead {
			r.judgeFurther(d, &v)
		}
		if r.gone != nil && len(v.failed) == 0 {
			v.settled = v.settled && len(r.gone.left(d)) == 0
		}
		return v
	}
	all := append([]*workspace.Repository{r.options.Repository}, r.options.Further...)
	var v verdict
	v.settled, v.failed, v.broken = d.SettledAt(r.compared.at, manual(all)...)
	v.settled = v.settled && registered(all, d.Applications())
	return v
}

// At reports whether an application that was deployed from a commit need not be deployed again at the Head of its
// repository.
func (r *Run) At(app *deckv1.Application, commit string) bool { return r.compared.at(app, commit) }

// Expected reports a problem that comes from the range itself: an application that HEAD removes.
func (r *Run) Expected(p *deckv1.Problem) bool {
	if r.options.Range == nil || p.GetApplicationId() == "" {
		return false
	}
	app := r.last.Application(p.GetApplicationId())
	return slices.ContainsFunc(r.options.Range.Applications, func(a Application) bool {
		return a.Fate == Removed && app != nil && a.File == fileOf(app)
	})
}

// Err is the result of a run that has ended: nil when everything was deployed.
func (r *Run) Err() error { return r.err }

// Outcome is what the run has done until now.
func (r *Run) Outcome() *Outcome {
	r.outcome.Ended = time.Now()
	switch {
	case r.last == nil:
	case r.atHead:
		r.outcome.Head = r.last
	default:
		r.outcome.Base = r.last
	}
	return r.outcome
}

// Left says what the run waits for; empty where only the environment can say that. The hint is the next step of a user
// whose run has timed out.
func (r *Run) Left() (left, hint string) {
	if r.last == nil {
		return "", ""
	}
	waiting := r.stages.waiting(r.last)
	if len(waiting) > 0 {
		left, hint = strings.Join(waiting, "; "), r.stages.remedy()
	} else if r.phase != nil {
		waits := r.phase.judge(r.last).left
		if r.gone != nil {
			waits = append(waits, r.gone.left(r.last)...)
		}
		left = strings.Join(waits, "; ")
	}
	if left != "" && r.phase != nil {
		left = r.where() + ": " + left
	}
	return left, hint
}

// where names the commit that is deployed now.
func (r *Run) where() string {
	if r.atHead {
		return "HEAD " + line.Commit(r.options.Range.Head)
	}
	return r.options.Range.base()
}

// baseFailed is the error of a run whose base could not be deployed, so that nothing can be said of the change.
func (r *Run) baseFailed(v verdict) error {
	next := "the change is not the cause: fix " + r.options.Range.Name + ", give another base with --from, or leave " +
		"--from out to deploy HEAD alone"
	untouched := func(d *deckv1.Deployment) bool {
		file := fileOf(r.last.Application(d.GetApplicationId()))
		return slices.ContainsFunc(r.options.Range.Applications, func(a Application) bool {
			return a.File == file && !a.AtHead
		})
	}
	if slices.ContainsFunc(v.failed, untouched) {
		next += "; or deploy only the applications that the change touches, with --changed"
	}
	return exit.With(exit.Failed,
		fmt.Errorf("%s failed, so HEAD was not deployed: %s", r.options.Range.base(), reasons(v.failed)), next)
}

// verdictOf is the error of a run that has settled.
func verdictOf(v verdict) error {
	if len(v.broken) > 0 {
		return exit.Usage(fmt.Errorf("%s: %s", v.broken[0].GetName(), v.broken[0].GetSyncReason()),
			"correct the file, commit it, and run again")
	}
	if len(v.failed) == 0 {
		return nil
	}
	return exit.With(exit.Failed, errors.New(reasons(v.failed)),
		"see the stage logs above; --keep keeps the environment to look at")
}

func reasons(failed []*deckv1.Deployment) string {
	var all []string
	for _, d := range failed {
		all = append(all, fmt.Sprintf("%s: %s: %s", d.GetApplicationName(), reader.Name(d.GetStatus()),
			d.GetStatusReason()))
	}
	return strings.Join(all, "; ")
}
