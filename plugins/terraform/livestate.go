// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/terraform/change"
	"github.com/pipedeck/pipedeck/plugins/terraform/config"
	"github.com/pipedeck/pipedeck/plugins/terraform/resource"
	"github.com/pipedeck/pipedeck/plugins/terraform/session"
)

type (
	livestateRequest = sdk.LivestateRequest[config.Plugin, config.Target, config.Application]
	driftRequest     = sdk.DriftRequest[config.Plugin, config.Target, config.Application]
)

var (
	_ sdk.LivestatePlugin[config.Plugin, config.Target, config.Application] = (*plugin)(nil)
	_ sdk.DriftPlugin[config.Plugin, config.Target, config.Application]     = (*plugin)(nil)
	_ sdk.LivestateWatcher                                                  = (*plugin)(nil)
)

// LivestateChanges reports when it is time to look for drift again.
func (p *plugin) LivestateChanges() *sdk.LivestateChanges { return p.watch.changes }

// GetLivestate returns the resources of the states, and whether a plan of the deployed commit finds something to do.
// What was found is kept for driftInterval, unless a stage has changed something since,
// or a user wants to know it now.
func (p *plugin) GetLivestate(ctx context.Context, req *livestateRequest) (*sdk.Livestate, error) {
	seen, known := p.watch.get(req.ApplicationID, key(req))
	if known && !req.Fresh {
		return seen.livestate(), nil
	}
	generation := p.watch.generation(req.ApplicationID)
	before := p.watch.before(req.ApplicationID, key(req))
	seen = &sighting{narrow: narrowed(&req.Source.App)}
	for _, target := range req.Targets {
		if err := p.see(ctx, req, target, before, seen); err != nil {
			return nil, atLookTarget(req.Targets, target, err)
		}
	}
	p.watch.put(req.ApplicationID, key(req), generation, seen)
	return seen.livestate(), nil
}

// GetDrift returns the fields in which the deployed commit and the states differ.
func (p *plugin) GetDrift(ctx context.Context, req *driftRequest) ([]sdk.ResourceDrift, error) {
	if _, err := p.GetLivestate(ctx, &req.LivestateRequest); err != nil {
		return nil, err
	}
	seen, known := p.watch.get(req.ApplicationID, key(&req.LivestateRequest))
	if !known {
		return nil, errors.New("the state changes at this moment")
	}
	return seen.drifts(), nil
}

// key is what a sighting is of.
func key(req *livestateRequest) string {
	names := []string{req.Source.CommitHash}
	for _, target := range req.Targets {
		names = append(names, target.Name)
	}
	return strings.Join(names, "\x00")
}

// see looks at one deploy target. before is what was seen of the same commit; nil for nothing.
func (p *plugin) see(ctx context.Context, req *livestateRequest, target session.Target, before, seen *sighting) error {
	source, done, err := own(req.Source)
	if err != nil {
		return err
	}
	defer done()
	last := before.of(target.Name)
	l := look{"drift", req.ApplicationID, source, target, last.known()}
	return p.look(ctx, l, func(plan *session.Plan) error {
		at := sightingAt{target: target.Name, moment: plan.Moment}
		if plan.JSON == nil {
			at.tree = last.tree
		} else if at.tree, err = resource.OfPlan(plan.JSON); err != nil {
			return err
		}
		if target.Config.LooksForDrift() {
			at.changes = plan.Changes
		}
		seen.at = append(seen.at, at)
		return nil
	})
}

// sighting is what was found at the deploy targets of an application.
type sighting struct {
	at []sightingAt
	// narrow is why plans without changes do not say that Git and the states agree; empty when they do.
	narrow string
}

// narrowed is that of an application.
func narrowed(app *config.Application) string {
	flag, where := session.Narrowing(app)
	if flag == "" {
		return ""
	}
	return where + " has " + flag + ", so that a plan does not compare all of the configuration with the state"
}

type sightingAt struct {
	target string
	// moment is the state that tree is from.
	moment session.Moment
	tree   []resource.Resource
	// changes is nil where no one looks for drift.
	changes *change.Set
}

// of is what was found at a deploy target; nil for nothing.
func (s *sighting) of(target string) *sightingAt {
	if s == nil {
		return nil
	}
	for i := range s.at {
		if s.at[i].target == target {
			return &s.at[i]
		}
	}
	return nil
}

// known is the state whose resources are known; nil for none.
func (a *sightingAt) known() *session.Moment {
	if a == nil {
		return nil
	}
	return &a.moment
}

// id is that of a resource in the live state.
func (a *sightingAt) id(address string) string { return a.target + "/" + address }

func (s *sighting) livestate() *sdk.Livestate {
	live := &sdk.Livestate{}
	changes := summaries{}
	var details []string
	for i := range s.at {
		at := &s.at[i]
		live.Resources = append(live.Resources, at.states()...)
		if at.changes == nil {
			continue
		}
		changes.add(at.target, at.changes)
		if !at.changes.Empty() {
			details = append(details, at.changes.Diff())
		}
	}
	switch {
	case len(changes) == 0:
	case changes.empty() && s.narrow != "":
		live.Sync = &sdk.SyncState{Status: sdk.SyncUnknown, ShortReason: s.narrow}
	case changes.empty():
		live.Sync = &sdk.SyncState{Status: sdk.Synced}
	default:
		live.Sync = &sdk.SyncState{Status: sdk.OutOfSync, ShortReason: "A plan has changes: " + changes.String(),
			Reason: strings.Join(details, "\n")}
	}
	return live
}

// driftKey is the key of a resource's metadata with how it differs from Git. Only pipedeck knows it.
const driftKey = "Drift"

// states are the resources of the state, and those that the next apply creates, each with what an apply does to it.
func (a *sightingAt) states() []*sdk.ResourceState {
	planned := map[string]*change.Resource{}
	if a.changes != nil {
		for i := range a.changes.Resources {
			planned[a.changes.Resources[i].Address] = &a.changes.Resources[i]
		}
	}
	var states []*sdk.ResourceState
	modules := map[string]bool{}
	for _, r := range a.tree {
		state := a.state(r)
		if p := planned[r.Address]; p != nil {
			state.Metadata[driftKey] = onApply + p.What()
			delete(planned, r.Address)
		}
		states = append(states, state)
		modules[r.Address] = r.Type == resource.Module
	}
	for _, address := range slices.Sorted(maps.Keys(planned)) {
		for _, module := range resource.Ancestors(planned[address].Module) {
			if len(states) < maxStates && !modules[module] {
				states = append(states, a.plannedModule(module))
				modules[module] = true
			}
		}
		if len(states) >= maxStates {
			break
		}
		states = append(states, a.planned(planned[address]))
	}
	judge(states)
	return states
}

// judge makes modules unhealthy in which everything is. Modules come before what they hold.
func judge(states []*sdk.ResourceState) {
	below := map[string][]*sdk.ResourceState{}
	for _, state := range slices.Backward(states) {
		inside := below[state.ID]
		healthy := func(one *sdk.ResourceState) bool { return one.Health == sdk.Healthy }
		if len(inside) > 0 && !slices.ContainsFunc(inside, healthy) {
			state.Health, state.HealthDescription = sdk.Unhealthy, inside[0].HealthDescription
			other := func(one *sdk.ResourceState) bool { return one.HealthDescription != state.HealthDescription }
			if slices.ContainsFunc(inside, other) {
				state.HealthDescription = "all that it has is unhealthy"
			}
		}
		for _, parent := range state.ParentIDs {
			below[parent] = append(below[parent], state)
		}
	}
}

// planned is a resource that the state does not have.
func (a *sightingAt) planned(r *change.Resource) *sdk.ResourceState {
	state := &sdk.ResourceState{ID: a.id(r.Address), Name: r.Address, Type: r.Type, Health: sdk.Healthy,
		DeployTarget: a.target, Metadata: map[string]string{driftKey: onApply + r.What()}}
	if r.Module != "" {
		state.ParentIDs = []string{a.id(r.Module)}
	}
	if r.Action == change.Create { // what was deployed has it
		state.Health, state.HealthDescription = sdk.Unhealthy, "is missing in the state"
	}
	return state
}

// plannedModule is a module of which the state has nothing. It is a folder for what the next apply creates in it, and
// does not differ itself.
func (a *sightingAt) plannedModule(address string) *sdk.ResourceState {
	state := &sdk.ResourceState{ID: a.id(address), Name: address, Type: resource.Module, Health: sdk.Healthy,
		DeployTarget: a.target}
	if around := resource.Ancestors(address); len(around) > 1 {
		state.ParentIDs = []string{a.id(around[len(around)-2])}
	}
	return state
}

const (
	// onApply begins what an apply would do to a resource.
	onApply = "with the next apply, it "
	// maxStates bounds the resources of a deploy target next to which planned ones are shown that the state lacks.
	maxStates = 2_000
)

func (a *sightingAt) state(r resource.Resource) *sdk.ResourceState {
	state := &sdk.ResourceState{ID: a.id(r.Address), Name: r.Address, Type: r.Type, Health: sdk.Healthy,
		DeployTarget: a.target, Metadata: map[string]string{}}
	if r.Module != "" {
		state.ParentIDs = []string{a.id(r.Module)}
	}
	if r.ID != "" {
		state.Metadata["id"] = r.ID
	}
	if r.Provider != "" {
		state.Metadata["provider"] = r.Provider
	}
	if r.Tainted {
		state.Health, state.HealthDescription = sdk.Unhealthy, "tainted: the next apply replaces it"
	}
	return state
}

// maxDrifts and maxDriftFields are what piped takes.
const (
	maxDrifts      = 100
	maxDriftFields = 50
)

// drifts are those of the resources that the live state has.
func (s *sighting) drifts() []sdk.ResourceDrift {
	var list []sdk.ResourceDrift
	for i := range s.at {
		at := &s.at[i]
		if at.changes == nil {
			continue
		}
		shown := map[string]bool{}
		for _, state := range at.states() {
			shown[state.ID] = true
		}
		for _, r := range at.changes.Resources {
			if len(list) < maxDrifts && shown[at.id(r.Address)] {
				list = append(list, at.drift(r))
			}
		}
	}
	return list
}

func (a *sightingAt) drift(r change.Resource) sdk.ResourceDrift {
	drift := sdk.ResourceDrift{ResourceID: a.id(r.Address), MoreFields: r.MoreFields}
	for _, f := range r.Fields {
		if len(drift.Fields) == maxDriftFields {
			drift.MoreFields++
			continue
		}
		drift.Fields = append(drift.Fields, driftOf(f))
	}
	return drift
}

// driftOf says that someone has changed a field only where the plan knows that.
func driftOf(f change.Field) sdk.FieldDrift {
	drift := sdk.FieldDrift{Path: f.Path, Git: f.After, Live: f.Before, Applied: f.Applied, Secret: f.Secret}
	switch f.Applied {
	case "":
	case f.After:
		drift.Change = sdk.ChangeLive
	default:
		drift.Change = sdk.ChangeBoth
	}
	return drift
}
