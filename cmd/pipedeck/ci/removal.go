// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ci

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/state"
)

// Removal is how an application ended that the base has deployed and HEAD does not have.
type Removal struct {
	Application
	// App is the application as it was seen last; nil when it was never registered.
	App *deckv1.Application
	// Deployment has deleted what the application had deployed; nil where none has.
	Deployment *deckv1.Deployment
	// Moved is the configuration file at HEAD of an application that was moved; empty for others.
	Moved string
	// Refused is why what it has deployed stays; empty when it does not.
	Refused string

	asked bool
	// newest is the id of the deployment that was its newest when it was seen last, base the one that the base made.
	newest, base string
}

// removals has the applications that HEAD removes deleted, with what they have deployed.
type removals struct {
	warn func(string)
	all  []*Removal
}

func newRemovals(of *Range, base *state.Deck, warn func(string)) *removals {
	r := &removals{warn: warn}
	for _, a := range of.awaited(atBase) {
		if a.Fate == Removed {
			r.all = append(r.all, &Removal{Application: a})
		}
	}
	r.see(base)
	for _, one := range r.all {
		one.base = one.newest
	}
	return r
}

// see notes the applications as they are.
func (r *removals) see(d *state.Deck) {
	byFile := map[string]*deckv1.Application{}
	for _, app := range d.Applications() {
		byFile[fileOf(app)] = app
	}
	for _, one := range r.all {
		app := byFile[one.File]
		if app != nil {
			one.App = app
		}
		if newest := d.Newest(app.GetId()); newest != nil {
			one.newest = newest.GetId()
		}
		one.Deployment = nil
		if one.newest != one.base {
			one.Deployment = d.Deployment(one.newest)
		}
		if now := d.Application(one.App.GetId()); app == nil && now != nil {
			one.Moved = fileOf(now)
		}
	}
}

// attend asks for the removal of those that piped does not find at HEAD. What their own configuration says at the base
// comes first: piped acts on that.
func (r *removals) attend(ctx context.Context, deck deckv1.DeckServiceClient, d *state.Deck) {
	r.see(d)
	for _, one := range r.all {
		if one.asked || one.onRemoved != "" || one.newest != one.base || !orphaned(d, one) {
			continue
		}
		one.asked = true
		err := request(ctx, func(ctx context.Context) error {
			_, err := deck.RemoveApplication(ctx, &deckv1.RemoveApplicationRequest{
				ApplicationId: one.App.GetId(), Delete: true, Commander: approver,
			})
			return err
		}, codes.Unavailable)
		// A late answer is no refusal: the deployment that deletes may come yet, and is awaited.
		if err != nil && status.Code(err) != codes.DeadlineExceeded && ctx.Err() == nil {
			one.Refused = status.Convert(err).Message()
			r.warn(one.Title() + " stays: " + one.Refused)
		}
	}
}

func orphaned(d *state.Deck, one *Removal) bool {
	now := d.Application(one.App.GetId())
	return now.GetSync() == deckv1.SyncStatus_SYNC_STATUS_ORPHANED && fileOf(now) == one.File
}

// left says what is awaited.
func (r *removals) left(d *state.Deck) (left []string) {
	for _, one := range r.all {
		here := d.Application(one.App.GetId())
		switch {
		case one.App == nil, one.Refused != "", one.Moved != "":
		case one.newest != one.base && (one.Deployment == nil || !state.Ended(one.Deployment.GetStatus())):
			left = append(left, one.Title()+": what it has deployed is being deleted")
		case one.Deployment != nil && one.Deployment.GetStatus() !=
			deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS: // which is the end of the run
		case here != nil && one.onRemoved == config.RemovalKeep && orphaned(d, one):
		case here != nil:
			left = append(left, one.Title()+": it is gone from Git, and waits for its removal")
		}
	}
	return left
}

// Removals returns how the applications ended that HEAD removes; none when HEAD was not reached.
func (o *Outcome) Removals() []*Removal { return o.removals }

// Text says how it ended.
func (r *Removal) Text() string {
	switch {
	case r.Moved != "":
		return "moved, goes on in " + r.Moved
	case r.Deployment != nil && r.Deployment.GetStatus() != deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS:
		return "not removed: " + reader.Name(r.Deployment.GetStatus()) + ": " + r.Deployment.GetStatusReason()
	case r.Refused != "":
		return "gone from Git, what it has deployed stays: " + r.Refused
	case r.onRemoved == config.RemovalKeep, r.onRemoved == config.RemovalOrphan:
		return "gone from Git, what it has deployed stays: its configuration has onRemoved: " + string(r.onRemoved)
	}
	return "removed, with what it had deployed"
}
