// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"cmp"
	"maps"
	"slices"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/text"
)

// MaxDeployments bounds how many deployments of one application are kept unless Keeping says otherwise; the oldest go
// first.
const MaxDeployments = 100

// Deck is the state of an environment. The zero value is empty; New is for readability.
// The objects it returns belong to it and must not be changed.
type Deck struct {
	objects
	// synced: the state has been complete once.
	synced bool
	// next gathers the state that follows a Reset until it is complete.
	next *objects
	// pluginHistory by PluginKey; it outlives a Reset.
	pluginHistory map[string]*PluginHistory
	// limit replaces MaxDeployments unless it is 0.
	limit int
}

type objects struct {
	environment  *deckv1.Environment
	components   map[string]*deckv1.Component
	applications map[string]*deckv1.Application
	// byName has the applications in order; nil when it is to be made again.
	byName []*deckv1.Application
	// named has the applications of each name; nil when it is to be made again.
	named       map[string][]*deckv1.Application
	deployments map[string]*deckv1.Deployment
	// running has the ids of the deployments that have not ended.
	running map[string]bool
	// byApplication has the deployments of each application, the newest first.
	byApplication map[string][]*deckv1.Deployment
	pipeds        map[string]*deckv1.Piped
	// plugins by PluginKey.
	plugins  map[string]*deckv1.Plugin
	problems map[string]*deckv1.Problem
	// caption is that of the story that is played.
	caption *deckv1.Caption
}

// New returns an empty deck.
func New() *Deck { return &Deck{} }

// Keeping returns an empty deck that keeps up to limit deployments of each application.
func Keeping(limit int) *Deck { return &Deck{limit: limit} }

// Apply takes over one event. Its objects belong to the deck from then on.
func (d *Deck) Apply(event *deckv1.Event) {
	target := &d.objects
	if d.next != nil {
		target = d.next
	}
	switch kind := event.GetKind().(type) {
	case *deckv1.Event_Environment:
		target.environment = kind.Environment
	case *deckv1.Event_Component:
		put(&target.components, kind.Component.GetName(), kind.Component)
	case *deckv1.Event_Application:
		target.putApplication(kind.Application)
	case *deckv1.Event_Deployment:
		target.putDeployment(kind.Deployment, cmp.Or(d.limit, MaxDeployments))
	case *deckv1.Event_Plugin:
		put(&target.plugins, PluginKey(kind.Plugin), kind.Plugin)
		d.remember(kind.Plugin)
	case *deckv1.Event_Piped:
		put(&target.pipeds, kind.Piped.GetId(), kind.Piped)
	case *deckv1.Event_Problem:
		put(&target.problems, kind.Problem.GetId(), kind.Problem)
	case *deckv1.Event_Caption:
		target.caption = kind.Caption
	case *deckv1.Event_Removed:
		target.removeApplication(kind.Removed.GetApplicationId())
		delete(target.plugins, pluginKey(kind.Removed.GetPipedId(), kind.Removed.GetPluginName()))
		delete(target.problems, kind.Removed.GetProblemId())
	case *deckv1.Event_Reset_:
		d.Restart()
	case *deckv1.Event_Synced:
		if d.next != nil {
			d.objects, d.next = *d.next, nil
		}
		d.synced = true
	}
}

// Restart says that the whole state will be sent again, as after a new connection. Before the first
// complete state there is nothing worth keeping on the screen, so objects count at once.
func (d *Deck) Restart() {
	if !d.synced {
		d.objects = objects{}
		return
	}
	d.next = &objects{}
}

// Clone returns the state of a deck as it is now. It shares the objects, which do not change.
func Clone(d *Deck) *Deck {
	clone := *d
	o := &clone.objects
	o.components, o.applications = maps.Clone(o.components), maps.Clone(o.applications)
	o.deployments, o.running = maps.Clone(o.deployments), maps.Clone(o.running)
	o.byApplication, o.pipeds = maps.Clone(o.byApplication), maps.Clone(o.pipeds)
	o.plugins, o.problems = maps.Clone(o.plugins), maps.Clone(o.problems)
	o.named = nil // it is made again
	clone.next, clone.pluginHistory = nil, nil
	return &clone
}

func put[T any](m *map[string]T, key string, value T) {
	if *m == nil {
		*m = map[string]T{}
	}
	(*m)[key] = value
}

// putDeployment adds or replaces one, and forgets the oldest of its application when there are more than limit.
func (o *objects) putDeployment(deployment *deckv1.Deployment, limit int) {
	put(&o.deployments, deployment.GetId(), deployment)
	if Ended(deployment.GetStatus()) {
		delete(o.running, deployment.GetId())
	} else {
		put(&o.running, deployment.GetId(), true)
	}
	application := deployment.GetApplicationId()
	list := slices.DeleteFunc(slices.Clone(o.byApplication[application]), func(d *deckv1.Deployment) bool {
		return d.GetId() == deployment.GetId()
	})
	list = append(list, deployment)
	slices.SortFunc(list, func(a, b *deckv1.Deployment) int {
		return cmp.Or(b.GetCreatedAt().AsTime().Compare(a.GetCreatedAt().AsTime()), cmp.Compare(b.GetId(), a.GetId()))
	})
	for _, forgotten := range list[min(len(list), limit):] {
		o.forget(forgotten)
	}
	put(&o.byApplication, application, list[:min(len(list), limit)])
}

func (o *objects) forget(deployment *deckv1.Deployment) {
	delete(o.deployments, deployment.GetId())
	delete(o.running, deployment.GetId())
}

// putApplication adds or replaces one.
func (o *objects) putApplication(application *deckv1.Application) {
	before := o.applications[application.GetId()]
	put(&o.applications, application.GetId(), application)
	o.named = nil
	if at := slices.Index(o.byName, before); at >= 0 && before.GetName() == application.GetName() {
		o.byName = slices.Clone(o.byName) // the former list may be in use
		o.byName[at] = application
		return
	}
	o.byName, o.named = nil, nil
}

// removeApplication forgets an application and its deployments.
func (o *objects) removeApplication(id string) {
	for _, deployment := range o.byApplication[id] {
		o.forget(deployment)
	}
	delete(o.byApplication, id)
	delete(o.applications, id)
	o.byName, o.named = nil, nil
}

// Synced reports whether the state has been complete once.
func (d *Deck) Synced() bool { return d.synced }

// Environment may be nil before the first event.
func (d *Deck) Environment() *deckv1.Environment { return d.environment }

// Caption is that of the story that is played; nil while none is.
func (d *Deck) Caption() *deckv1.Caption {
	if d.caption.GetText() == "" {
		return nil
	}
	return d.caption
}

// Components in the order of starting.
func (d *Deck) Components() []*deckv1.Component {
	return sorted(d.components, func(a, b *deckv1.Component) int {
		return cmp.Or(cmp.Compare(a.GetOrder(), b.GetOrder()), cmp.Compare(a.GetName(), b.GetName()))
	})
}

// Applications by name, as people count. The list is shared: it must not be changed, and does not change itself.
func (d *Deck) Applications() []*deckv1.Application {
	if d.byName == nil {
		d.byName = sorted(d.applications, func(a, b *deckv1.Application) int {
			return cmp.Or(text.Natural(a.GetName(), b.GetName()), cmp.Compare(a.GetId(), b.GetId()))
		})
	}
	return d.byName
}

// Application returns nil when there is none with that id.
func (d *Deck) Application(id string) *deckv1.Application { return d.applications[id] }

// Deployment returns nil when there is none with that id.
func (d *Deck) Deployment(id string) *deckv1.Deployment { return d.deployments[id] }

// Deployments of one application, the newest first.
func (d *Deck) Deployments(application string) []*deckv1.Deployment {
	return d.byApplication[application]
}

// Newest is the newest deployment of an application; nil before the first.
func (d *Deck) Newest(application string) *deckv1.Deployment {
	if list := d.byApplication[application]; len(list) > 0 {
		return list[0]
	}
	return nil
}

// Outcome is the newest deployment of an application that has succeeded or failed; nil when none has. A cancelled one
// neither brings what failed before it nor undoes what succeeded.
func (d *Deck) Outcome(application string) *deckv1.Deployment {
	for _, one := range d.byApplication[application] {
		switch one.GetStatus() {
		case deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE:
			return one
		}
	}
	return nil
}

// Present is the deployment of an application that acts: the one under way while newer ones wait for it to end, else
// the newest; nil before the first.
func (d *Deck) Present(application string) *deckv1.Deployment {
	for _, one := range d.byApplication[application] {
		if one.GetStatus() == deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PENDING {
			continue
		}
		if !Ended(one.GetStatus()) {
			return one
		}
		break
	}
	return d.Newest(application)
}

// Plugins by name, and those of one name by piped.
func (d *Deck) Plugins() []*deckv1.Plugin {
	return sorted(d.plugins, func(a, b *deckv1.Plugin) int {
		return cmp.Or(cmp.Compare(a.GetName(), b.GetName()), cmp.Compare(a.GetPipedId(), b.GetPipedId()))
	})
}

// Plugin returns the plugin with a PluginKey; nil when there is none.
func (d *Deck) Plugin(key string) *deckv1.Plugin { return d.plugins[key] }

// PluginKey identifies a plugin in an environment: several pipeds may run plugins of one name.
func PluginKey(p *deckv1.Plugin) string { return pluginKey(p.GetPipedId(), p.GetName()) }

func pluginKey(piped, name string) string { return piped + "\x00" + name }

// PluginName is the name of a plugin for users. The name of its piped follows where several pipeds run one of that
// name.
func (d *Deck) PluginName(p *deckv1.Plugin) string {
	for _, other := range d.plugins {
		if other.GetName() == p.GetName() && other.GetPipedId() != p.GetPipedId() {
			return p.GetName() + " of " + d.PipedName(p.GetPipedId())
		}
	}
	return p.GetName()
}

// Pipeds returns the agents by name, the environment's own first.
func (d *Deck) Pipeds() []*deckv1.Piped {
	return sorted(d.pipeds, func(a, b *deckv1.Piped) int {
		if a.GetOwn() != b.GetOwn() {
			if a.GetOwn() {
				return -1
			}
			return 1
		}
		return cmp.Or(text.Natural(a.GetName(), b.GetName()), cmp.Compare(a.GetId(), b.GetId()))
	})
}

// PipedName is the name of a piped, or its id while the name is not known.
func (d *Deck) PipedName(id string) string { return cmp.Or(d.pipeds[id].GetName(), id) }

// Component returns nil when there is none with that name.
func (d *Deck) Component(name string) *deckv1.Component { return d.components[name] }

func sorted[T any](m map[string]T, compare func(a, b T) int) []T {
	list := make([]T, 0, len(m))
	for _, v := range m {
		list = append(list, v)
	}
	slices.SortFunc(list, compare)
	return list
}
