// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
)

// dirty are the objects that have changed since the last event about them.
type dirty struct {
	applications, deployments, plugins, components, problems map[string]bool
	environment, pipeds                                      bool
	gone                                                     Gone
	// all: the state has begun again, and is not complete.
	all bool
	// synced has become true.
	synced bool
}

func newDirty() dirty {
	return dirty{applications: map[string]bool{}, deployments: map[string]bool{}, plugins: map[string]bool{},
		components: map[string]bool{}, problems: map[string]bool{}}
}

func (d *dirty) empty() bool {
	return len(d.applications)+len(d.deployments)+len(d.plugins)+len(d.components)+len(d.problems) == 0 &&
		!d.environment && !d.pipeds && !d.synced && d.goneOrNil() == nil
}

func (d *dirty) goneOrNil() *Gone {
	g := d.gone
	if len(g.Applications)+len(g.Deployments)+len(g.Plugins)+len(g.Problems) == 0 {
		return nil
	}
	return &g
}

// mark notes what an event changes, before the deck applies it.
func (d *dirty) mark(deck *state.Deck, event *deckv1.Event) {
	switch kind := event.GetKind().(type) {
	case *deckv1.Event_Environment:
		d.environment = true
	case *deckv1.Event_Component:
		d.components[kind.Component.GetName()] = true
	case *deckv1.Event_Application:
		d.application(deck, kind.Application)
	case *deckv1.Event_Deployment:
		d.deployment(deck, kind.Deployment)
	case *deckv1.Event_Plugin:
		d.plugins[state.PluginKey(kind.Plugin)] = true
	case *deckv1.Event_Piped:
		d.pipeds = true
	case *deckv1.Event_Problem:
		d.problem(deck, kind.Problem.GetId())
		d.applications[kind.Problem.GetApplicationId()] = true
	case *deckv1.Event_Removed:
		d.removed(deck, kind.Removed)
	case *deckv1.Event_Synced:
		d.synced = !deck.Synced()
	}
}

// application notes one that has changed. A new one may change how others of its name are called.
func (d *dirty) application(deck *state.Deck, app *deckv1.Application) {
	d.applications[app.GetId()] = true
	if !deck.Synced() || deck.Application(app.GetId()) != nil {
		return
	}
	for _, other := range deck.Applications() {
		if other.GetName() == app.GetName() {
			d.applications[other.GetId()] = true
		}
	}
}

// deployment notes one that has changed, and its application. With its status may change for what those in the queue of
// the application wait.
func (d *dirty) deployment(deck *state.Deck, one *deckv1.Deployment) {
	d.deployments[one.GetId()] = true
	d.applications[one.GetApplicationId()] = true
	if known := deck.Deployment(one.GetId()); known != nil && known.GetStatus() == one.GetStatus() {
		return
	}
	for _, other := range deck.Deployments(one.GetApplicationId()) {
		if other.GetStatus() == deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PENDING {
			d.deployments[other.GetId()] = true
		}
	}
}

// problem notes one that has changed, and its application.
func (d *dirty) problem(deck *state.Deck, id string) {
	d.problems[id] = true
	if app := deck.Problem(id).GetApplicationId(); app != "" {
		d.applications[app] = true
	}
}

func (d *dirty) removed(deck *state.Deck, r *deckv1.Removed) {
	if id := r.GetApplicationId(); id != "" {
		for _, one := range deck.Deployments(id) {
			delete(d.deployments, one.GetId())
		}
		delete(d.applications, id)
		d.gone.Applications = append(d.gone.Applications, id)
	}
	if r.GetPluginName() != "" {
		key := state.PluginKey(&deckv1.Plugin{Name: r.GetPluginName(), PipedId: r.GetPipedId()})
		delete(d.plugins, key)
		d.gone.Plugins = append(d.gone.Plugins, pluginID(key))
	}
	if id := r.GetProblemId(); id != "" {
		d.problem(deck, id)
		delete(d.problems, id)
		d.gone.Problems = append(d.gone.Problems, id)
	}
}
