// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ci

import (
	"time"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/revision"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/tui/state"
)

// Outcome is what a run has done. It is complete however the run ended: what a run did not reach is nil or zero.
type Outcome struct {
	// Repository is the repository at HEAD. With --changed, its Applications are those that the range touches.
	Repository *workspace.Repository
	// Range is what was compared; nil without --from.
	Range *Range
	// Base is the environment when the base had settled, or at the end of a run that ended before; nil without a
	// base phase. Head is the environment at the end; nil when HEAD was not reached.
	Base, Head *state.Deck
	// Began, Switched and Ended are the times of the first state, of the move to HEAD (zero without one) and of the
	// last state.
	Began, Switched, Ended time.Time

	removals []*Removal
}

// Range is the change that a run deploys: from the commit of --from to HEAD.
type Range struct {
	// Ref is what the user gave to --from, Name what it was found as ("origin/main" for "main" in a clone where only
	// the remote has that branch).
	Ref, Name string
	// Base is the repository at the commit of Ref.
	Base *workspace.Repository
	// Head is the hash of HEAD; Base.Head is that of the base.
	Head string
	// Files differ between the two, by their slash-separated paths.
	Files []string
	// relation is how the base is related to HEAD.
	relation revision.Relation
	// Changed is --changed: only the applications that the range touches are deployed, at both commits.
	Changed bool
	// Checked are the applications of the base with what is wrong with them; nil where nothing was checked.
	Checked  []*workspace.Checked
	decision *decision
	// Applications are all of both commits, by their configuration files.
	Applications []Application
}

// Application is an application of a Range.
type Application struct {
	// File is its configuration file in the repository.
	File string
	// Name as HEAD has it, or the base for one that is only there; empty where no configuration can be read.
	Name string
	Fate Fate
	// Why is the reason of the fate, in words.
	Why string
	// AtBase and AtHead say that a deployment of it is awaited there.
	AtBase, AtHead bool
	// Touched: the range changes files of it, or deploys it by a chain.
	Touched bool
	// twice: another application of the range has the same name.
	twice bool
	// follows: the chain of another application deploys it.
	follows bool
	// unsound: at the base, its configuration has mistakes or needs what the environment lacks.
	unsound bool
	// onRemoved is what its configuration at the base says about its removal; empty for nothing.
	onRemoved config.Removal
}

// Fate is what a range does to an application.
type Fate string

// The fates.
const (
	// Touched: the range changes files of it.
	Touched Fate = "touched"
	// New: it is not deployed at the base, since it is not there or its configuration is not valid there.
	New Fate = "new"
	// Unchanged: the range touches nothing of it.
	Unchanged Fate = "unchanged"
	// Removed: its configuration is only at the base. HEAD deletes what it has deployed, unless the configuration says
	// something else.
	Removed Fate = "removed"
	// Manual: neither a commit, drift nor a chain deploys it, and the range touches nothing of it.
	Manual Fate = "manual"
	// Undeployed: the range changes files of it, and nothing in the run deploys that.
	Undeployed Fate = "undeployed"
)

// Unchanged returns the applications that the range does not touch.
func (o *Outcome) Unchanged() (unchanged []Application) {
	if o.Range == nil {
		return nil
	}
	for _, a := range o.Range.Applications {
		if a.Fate == Unchanged {
			unchanged = append(unchanged, a)
		}
	}
	return unchanged
}
