// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// Target is an application, or one deployment of it.
type Target struct {
	Application *deckv1.Application
	// Deployment is nil when the word names the application.
	Deployment *deckv1.Deployment
}

// Target finds the application or deployment that the word names.
func (w Word) Target() (Target, error) {
	choices := w.applications()
	if err := w.removed(choices); err != nil {
		return Target{}, err
	}
	for _, d := range w.line.State.AllDeployments() {
		choices = append(choices, w.deployment(d))
	}
	return pick(w, "application or deployment", "see pipedeck apps and pipedeck deployments", choices)
}

// Application finds the application that the word names, or whose deployment it names.
func (w Word) Application() (*deckv1.Application, error) {
	choices := w.applications()
	if err := w.removed(choices); err != nil {
		return nil, err
	}
	found := Best(choices, func(c choice[Target]) int { return w.fit(false, c.names...) })
	if len(found) == 0 {
		for _, d := range w.line.State.AllDeployments() {
			if Fit(w.Text, d.GetId()) == fitsNot {
				continue
			}
			app := w.line.State.Application(d.GetApplicationId())
			if len(found) == 0 || found[0].value.Application != app { // of one application, which one does not matter
				found = append(found, w.deployment(d))
			}
		}
		if len(found) > 0 {
			choices = found
		}
	}
	target, err := pick(w, "application", "see pipedeck apps", choices)
	return target.Application, err
}

// RemovedError says that the word is the whole name or the id of an application that was removed, and names no other
// one.
type RemovedError struct {
	// Deployment is the newest that is kept of the application.
	Deployment *deckv1.Deployment
}

// Error names the application.
func (e *RemovedError) Error() string {
	return "application " + e.Deployment.GetApplicationName() + " was removed"
}

// removed returns a [*RemovedError] unless one of the applications has the whole name. A beginning of another name does
// not count: the user means the application that is gone.
func (w Word) removed(applications []choice[Target]) error {
	if slices.ContainsFunc(applications, func(c choice[Target]) bool { return Fit(w.Text, c.names...) == fitsWhole }) {
		return nil
	}
	for _, d := range state.OfRemoved(w.line.State.Deck) {
		if w.Text == d.GetApplicationName() || w.Text == d.GetApplicationId() {
			return exit.Usage(&RemovedError{d}, "see its deployments: pipedeck history "+
				text.ShellWord(d.GetApplicationName())+w.line.flags)
		}
	}
	return nil
}

// Running finds the deployment that the word names, by its id or by its application when that has one under way.
func (w Word) Running() (*deckv1.Deployment, error) {
	target, err := w.Target()
	if err != nil || target.Deployment != nil {
		return target.Deployment, err
	}
	var found []*deckv1.Deployment
	for _, d := range w.line.State.Deployments(target.Application.GetId()) {
		if !state.Ended(d.GetStatus()) {
			found = append(found, d)
		}
	}
	name := target.Application.GetName()
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, exit.Usage(fmt.Errorf("no deployment of %q is under way", name), "see pipedeck deployments")
	}
	return nil, exit.Usage(fmt.Errorf("%d deployments of %q are under way", len(found), name), w.oneOf(found))
}

// NotADeployment refuses a word that names a deployment where an application is wanted; instead is the command to run.
func NotADeployment(d *deckv1.Deployment, instead string) error {
	return exit.Usage(fmt.Errorf("%s is a deployment of %s: an application is wanted", d.GetId(),
		d.GetApplicationName()), instead)
}

// oneOf lists the command for each of deployments.
func (w Word) oneOf(deployments []*deckv1.Deployment) string {
	var candidates []Candidate
	for _, d := range deployments {
		candidates = append(candidates, Candidate{w.with(d.GetId()), w.line.About(d)})
	}
	return OneOf(candidates, "see pipedeck deployments")
}

// Earlier finds the one of deployments whose id or commit begins with the word. Deployments of one commit are the same:
// the first of them is returned.
func (w Word) Earlier(among []*deckv1.Deployment, app *deckv1.Application) (*deckv1.Deployment, error) {
	if w.Text == "" {
		return nil, exit.Usage(errors.New("the name of the deployment is empty"), "see pipedeck deployments")
	}
	found := Best(among, func(d *deckv1.Deployment) int { return Fit(w.Text, d.GetId(), d.GetCommit().GetHash()) })
	commits := map[string]bool{}
	var first []*deckv1.Deployment
	for _, d := range found {
		if hash := d.GetCommit().GetHash(); !commits[hash] {
			commits[hash] = true
			first = append(first, d)
		}
	}
	switch len(first) {
	case 1:
		return first[0], nil
	case 0:
		return nil, exit.Usage(fmt.Errorf("no earlier deployment of %s that has succeeded is %q", app.GetName(),
			w.Text), w.OneOfCommits(among, "see pipedeck deployments"))
	}
	return nil, exit.Usage(fmt.Errorf("%q fits %d commits or deployments of %s", w.Text, len(first), app.GetName()),
		w.oneOf(first))
}

// OneOfCommits lists the command with each commit of deployments in place of the word; without any it returns
// otherwise.
func (w Word) OneOfCommits(among []*deckv1.Deployment, otherwise string) string {
	commits := map[string]bool{}
	var candidates []Candidate
	for _, d := range among {
		if hash := d.GetCommit().GetHash(); !commits[hash] {
			commits[hash] = true
			candidates = append(candidates, Candidate{w.with(line.Commit(hash)), w.line.About(d)})
		}
	}
	if len(candidates) == 0 {
		return otherwise
	}
	return OneOf(candidates, otherwise)
}

func (w Word) applications() (choices []choice[Target]) {
	s := w.line.State
	for _, a := range s.Applications() {
		about := "application " + a.GetName()
		if len(s.Pipeds()) > 1 {
			about += " of piped " + s.PipedName(a.GetPipedId())
		}
		about += ", " + document.Word(a.GetSync()) + ", in " + cmp.Or(a.GetPath(), ".")
		choices = append(choices, choice[Target]{
			value: Target{Application: a}, names: []string{a.GetName(), a.GetId()},
			argument: s.ApplicationArgument(a), about: about,
		})
	}
	return choices
}

func (w Word) deployment(d *deckv1.Deployment) choice[Target] {
	return choice[Target]{
		value: Target{w.line.State.Application(d.GetApplicationId()), d}, names: []string{d.GetId()},
		argument: d.GetId(), about: w.line.About(d), unlisted: true,
	}
}

// About returns what distinguishes a deployment from others.
func (l *Line) About(d *deckv1.Deployment) string {
	parts := []string{"deployment of " + d.GetApplicationName(), document.Word(d.GetStatus())}
	if hash := d.GetCommit().GetHash(); hash != "" {
		parts = append(parts, "commit "+line.Commit(hash))
	}
	if d.GetCreatedAt() != nil {
		parts = append(parts, Age(time.Since(d.GetCreatedAt().AsTime()))+" ago")
	}
	if len(l.State.Pipeds()) > 1 {
		parts = append(parts, "piped "+l.State.PipedName(d.GetPipedId()))
	}
	return strings.Join(parts, ", ")
}

// Age returns a time in its largest unit.
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(0, d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}
