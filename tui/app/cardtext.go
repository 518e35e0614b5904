// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

// view is the card on the screen.
func (c *cards) view() view.Card {
	app, d := c.chosen.application(), c.chosen.deployment()
	v := view.Card{Theme: c.host.theme, Title: c.chosen.name() + " runs", Hide: c.host.key(keymap.Back),
		Rows: []view.CardRow{{Text: c.achieved(d), Good: true}}}
	v.Rows = append(v.Rows, c.reached(app)...)
	if c.open == successCard {
		v.Title = c.chosen.name() + " is live"
		v.Rows = append(v.Rows, view.CardRow{}, view.CardRow{Text: "Next"})
		words := "edit a manifest and commit it"
		if c.link.deck.Environment().GetEditHint() != "" { // of a sample
			words = "break it: use a wrong image, watch the rollback"
		}
		v.Rows = append(v.Rows, c.editing(app, words)...)
		v.Rows = append(v.Rows, c.place(keymap.ShowHistory, "the earlier deployments"))
	} else {
		v.Rows = append(v.Rows, view.CardRow{}, view.CardRow{Text: "Next: deploy a change"})
		v.Rows = append(v.Rows, c.editing(app, "edit a manifest and commit it")...)
	}
	return c.withPlaces(v)
}

func (c *cards) withPlaces(v view.Card) view.Card {
	words := "its resources in the cluster"
	if !clustered(c.chosen.application(), c.link.deck.Environment()) {
		words = "its resources"
	}
	v.Rows = append(v.Rows, c.place(keymap.ShowResources, words))
	if c.open == firstCard {
		v.Rows = append(v.Rows, c.place(keymap.ShowEnvironment, "the parts of the environment"))
	}
	return v
}

func (c *cards) place(action keymap.Action, words string) view.CardRow {
	return view.CardRow{Key: c.host.key(action), Text: words}
}

// achieved says what was deployed and how long it took.
func (c *cards) achieved(d *deckv1.Deployment) string {
	queued := state.QueueTime(d, c.link.deck.Deployments(d.GetApplicationId()), c.host.now)
	took := max(0, state.DeploymentTook(d, c.host.now)-queued)
	before := ""
	if queued >= time.Second {
		before = ", after " + view.Duration(queued) + " queued"
	}
	if d.GetStrategy() != pipeline {
		return "deployed in " + view.Duration(took) + before
	}
	stages := 0
	for _, stage := range d.GetStages() {
		if !stage.GetRollback() {
			stages++
		}
	}
	said := fmt.Sprintf("%d stages in %s", stages, view.Duration(took))
	if waited := min(c.waited(d), took); waited > 0 {
		said += ", " + view.Duration(waited) + " of it waiting for approval"
	}
	return said + before
}

// waited is how long a deployment waited for people: the time in which at least one of its stages did.
func (c *cards) waited(d *deckv1.Deployment) time.Duration {
	var stages []*deckv1.Stage
	for _, stage := range d.GetStages() {
		// Of a stage whose plugin does not report its approvals, what this UI saw has to do, or PipeCD's own type.
		asked := len(stage.GetApprovals()) > 0 || c.asked[[2]string{d.GetId(), stage.GetId()}] ||
			stage.GetName() == "WAIT_APPROVAL"
		if asked && stage.GetStartedAt().IsValid() && stage.GetCompletedAt().IsValid() {
			stages = append(stages, stage)
		}
	}
	slices.SortFunc(stages, func(a, b *deckv1.Stage) int {
		return firstStart(a).Compare(firstStart(b))
	})
	var sum time.Duration
	var until time.Time
	for _, stage := range stages {
		from, to := firstStart(stage), stage.GetCompletedAt().AsTime()
		if approvals := stage.GetApprovals(); len(approvals) > 0 {
			to = approvals[len(approvals)-1].GetAt().AsTime()
		}
		if from.Before(until) {
			from = until
		}
		if to.After(from) {
			sum, until = sum+to.Sub(from), to
		}
	}
	return sum
}

// firstStart is when the first attempt of a stage began: a person is waited for also while piped starts another one.
func firstStart(stage *deckv1.Stage) time.Time {
	if first := stage.GetFirstStartedAt(); first.IsValid() {
		return first.AsTime()
	}
	return stage.GetStartedAt().AsTime()
}

// reached says how to reach the application, where that is known.
func (c *cards) reached(app *deckv1.Application) []view.CardRow {
	key := c.host.key(keymap.Reach)
	switch address := cmp.Or(c.addresses[app.GetId()], text.Line(app.GetUrl())); {
	case address != "":
		return []view.CardRow{{Key: key, Text: address}}
	case len(app.GetDeployTargets()) > 0 && !clustered(app, c.link.deck.Environment()):
		return nil
	case c.actions.simulated(app):
		return []view.CardRow{{Text: "Nothing answers: the cluster is simulated."}}
	case len(app.GetDeployTargets()) == 0:
		return nil
	}
	return []view.CardRow{{Key: key, Text: "opens it"}}
}

// editing says how to change what runs: with a key, or without where the key does nothing.
func (c *cards) editing(app *deckv1.Application, words string) []view.CardRow {
	if c.actions.unedited(app) == "" {
		return []view.CardRow{c.place(keymap.EditManifest, words)}
	}
	file := c.link.deck.Environment().GetEditHint()
	if !strings.HasPrefix(file, app.GetPath()+"/") {
		file = "a manifest below " + app.GetPath()
	}
	return []view.CardRow{{Text: "Change " + text.Line(file) + " and commit it"}}
}

// height is how many lines the card takes, at most most; 0 for no card.
func (c *cards) height(width, most int) int {
	if !c.visible() {
		return 0
	}
	return c.view().Height(width, most)
}

// parts draw the card where it has a place.
func (c *cards) parts(in rect) []part {
	if in.height <= 0 {
		return nil
	}
	return []part{{in, c.view().Draw(in.width, in.height)}}
}
