// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"slices"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/tui/state"
)

// FitsTarget reports whether the word names an application or a deployment, or several of them.
func (w Word) FitsTarget() bool {
	for _, c := range w.applications() {
		if Fit(w.Text, c.names...) != fitsNot {
			return true
		}
	}
	for _, d := range w.line.State.AllDeployments() {
		if Fit(w.Text, d.GetId()) != fitsNot {
			return true
		}
	}
	return false
}

// DeploymentWithStage finds the deployment with the stage that the word names, among the newest one of each
// application that has stages: one that waits for its turn has none yet. The word is the only argument. Where several
// applications have such a stage, the error has a command for each; where none has, it is that of a word that names no
// application.
func (w Word) DeploymentWithStage() (*deckv1.Deployment, error) {
	var newest []*deckv1.Deployment
	for _, app := range w.line.State.Applications() {
		all := w.line.State.Deployments(app.GetId())
		if i := slices.IndexFunc(all, func(d *deckv1.Deployment) bool { return len(d.GetStages()) > 0 }); i >= 0 {
			newest = append(newest, all[i])
		}
	}
	fits := func(s *deckv1.Stage) int { return Fit(w.Text, StageNames(s)...) }
	found := Best(newest, func(d *deckv1.Deployment) int {
		best := fitsNot
		for _, s := range d.GetStages() {
			best = max(best, fits(s))
		}
		return best
	})
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		_, err := w.Target()
		return nil, err
	}
	var candidates []Candidate
	for _, d := range found {
		app := w.line.State.Application(d.GetApplicationId())
		stage := Best(d.GetStages(), fits)[0]
		candidates = append(candidates, Candidate{
			w.line.Command(w.line.State.ApplicationArgument(app), state.StageArgument(d.GetStages(), stage)),
			w.line.About(d),
		})
	}
	return nil, exit.Usage(fmt.Errorf("%d applications have a stage %q", len(found), w.Text),
		OneOf(candidates, "see pipedeck deployments"))
}
