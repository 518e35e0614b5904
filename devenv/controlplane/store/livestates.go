// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

// LiveStates are the last live states that pipeds reported of their applications.
type LiveStates struct {
	applications *Applications

	mu            sync.Mutex
	byApplication map[string]*liveState
}

type liveState struct {
	snapshot *model.ApplicationLiveStateSnapshot // nil while a caller waits for the first one
	// drifts are the fields that were reported with the snapshot, by resource; next are those for the next snapshot.
	drifts, next map[string]*livestate.ResourceDrift
	// news is closed at the next live state; nil while no caller waits.
	news chan struct{}
}

func newLiveStates(a *Applications) *LiveStates {
	return &LiveStates{applications: a, byApplication: map[string]*liveState{}}
}

// Report stores the last snapshot of an application.
func (l *LiveStates) Report(pipedID string, snapshot *model.ApplicationLiveStateSnapshot) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := snapshot.GetApplicationId()
	if err := l.applications.owned(pipedID, id); err != nil {
		return err
	}
	live := l.of(id)
	live.snapshot = proto.CloneOf(snapshot)
	live.drifts, live.next = live.next, nil
	live.hideSecrets()
	nameApplications(l.applications, live.snapshot.GetApplicationLiveState().GetResources())
	live.notify()
	l.applications.observed(id, health(live.snapshot),
		count(live.snapshot.GetApplicationLiveState().GetResources(), live.drifts))
	return nil
}

// Get returns the last snapshot of an application.
func (l *LiveStates) Get(id string) (*model.ApplicationLiveStateSnapshot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.applications.Get(id); err != nil {
		return nil, err
	}
	live := l.byApplication[id]
	if live == nil || live.snapshot == nil {
		return nil, notFound("no live state was reported for application %s", id)
	}
	return proto.CloneOf(live.snapshot), nil
}

// Resources is the last live state of an application. What it holds is shared and must not be changed.
type Resources struct {
	// List is empty before the first live state.
	List []*model.ResourceState
	// Drifts are the fields that differ from Git, by the id of the resource.
	Drifts map[string]*livestate.ResourceDrift
	// News is closed when there is another live state, or none any more.
	News <-chan struct{}
}

// Resources returns the last live state of an application.
func (l *LiveStates) Resources(id string) (Resources, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.applications.Get(id); err != nil {
		return Resources{}, err
	}
	live := l.of(id)
	if live.news == nil {
		live.news = make(chan struct{})
	}
	return Resources{live.snapshot.GetApplicationLiveState().GetResources(), live.drifts, live.news}, nil
}

// Apply brings snapshots of a PipeCD v0 piped up to date, and returns the ids of the events that belong to no snapshot
// of this piped.
func (l *LiveStates) Apply(pipedID string, events []*model.KubernetesResourceStateEvent) (failed []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range events {
		live := l.byApplication[e.GetApplicationId()]
		if live == nil || live.snapshot.GetKubernetes() == nil ||
			l.applications.owned(pipedID, e.GetApplicationId()) != nil {
			failed = append(failed, e.GetId())
			continue
		}
		k := live.snapshot.GetKubernetes()
		kept := make([]*model.KubernetesResourceState, 0, len(k.GetResources())+1)
		for _, r := range k.GetResources() {
			if r.GetId() != e.GetState().GetId() {
				kept = append(kept, r)
			}
		}
		if e.GetType() == model.KubernetesResourceStateEvent_ADD_OR_UPDATED {
			kept = append(kept, proto.CloneOf(e.GetState()))
		}
		k.Resources = kept
	}
	return failed
}

// remove forgets the live state of a deleted application.
func (l *LiveStates) remove(application string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if live := l.byApplication[application]; live != nil {
		live.notify()
		delete(l.byApplication, application)
	}
}

// clear forgets all live states. The store is frozen.
func (l *LiveStates) clear() {
	for _, live := range l.byApplication {
		live.notify()
	}
	clear(l.byApplication)
}

func (l *LiveStates) of(application string) *liveState {
	if l.byApplication[application] == nil {
		l.byApplication[application] = &liveState{}
	}
	return l.byApplication[application]
}

func (l *liveState) notify() {
	if l.news != nil {
		close(l.news)
		l.news = nil
	}
}
