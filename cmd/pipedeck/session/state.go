// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/tui/state"
)

// State is the state of an environment at one moment.
type State struct{ *state.Deck }

// maxListed bounds the deployments of one application in a snapshot: more than an environment keeps, with those under
// way.
const maxListed = 10_000

// ReadState reads the state that Watch sends first.
func ReadState(ctx context.Context, deck deckv1.DeckServiceClient) (*State, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := deck.Watch(ctx, &deckv1.WatchRequest{})
	if err != nil {
		return nil, fmt.Errorf("ask the environment: %w", err)
	}
	s := &State{Deck: state.Keeping(maxListed)}
	for !s.Synced() {
		response, err := stream.Recv()
		if err != nil {
			return nil, fmt.Errorf("ask the environment: %w", err)
		}
		for _, event := range response.Events {
			s.Apply(event)
		}
	}
	return s, nil
}

// AllDeployments returns those of all applications, the newest first.
func (s *State) AllDeployments() []*deckv1.Deployment {
	var all []*deckv1.Deployment
	for _, a := range s.Applications() {
		all = append(all, s.Deployments(a.Id)...)
	}
	slices.SortStableFunc(all, func(a, b *deckv1.Deployment) int {
		return b.CreatedAt.AsTime().Compare(a.CreatedAt.AsTime())
	})
	return all
}

// FindApplication finds an application by id, or by a name that only one has.
func (s *State) FindApplication(name string) (*deckv1.Application, error) {
	var names, ids []string
	var found *deckv1.Application
	for _, a := range s.Applications() {
		if a.Id == name {
			return a, nil
		}
		if a.Name == name {
			found = a
			ids = append(ids, a.Id+" of piped "+s.PipedName(a.PipedId))
		}
		names = append(names, a.Name)
	}
	switch {
	case len(ids) == 1:
		return found, nil
	case len(ids) > 1:
		return nil, exit.Usage(fmt.Errorf("%d applications are named %q", len(ids), name),
			Choices("application id", ids))
	}
	return nil, exit.Usage(fmt.Errorf("there is no application %q", name), Choices("application", names))
}

// FindPlugin finds a plugin by name, and by the name or id of its piped unless that is empty.
func (s *State) FindPlugin(name, piped string) (*deckv1.Plugin, error) {
	var found []*deckv1.Plugin
	var names, pipeds []string
	for _, p := range s.Plugins() {
		names = append(names, p.Name)
		if p.Name == name && (piped == "" || piped == p.PipedId || piped == s.PipedName(p.PipedId)) {
			found = append(found, p)
			pipeds = append(pipeds, s.PipedName(p.PipedId))
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, exit.Usage(fmt.Errorf("%d pipeds run a plugin %q", len(found), name),
			Choices("piped with --piped", pipeds))
	case piped != "":
		return nil, exit.Usage(fmt.Errorf("there is no plugin %q of piped %q", name, piped), "see pipedeck plugins")
	}
	return nil, exit.Usage(fmt.Errorf("there is no plugin %q", name), Choices("plugin", names))
}

// FindDeployment finds a deployment by id or by the beginning of one.
func (s *State) FindDeployment(id string) (*deckv1.Deployment, error) {
	var found []*deckv1.Deployment
	for _, d := range s.AllDeployments() {
		if d.Id == id {
			return d, nil
		}
		if len(id) >= 4 && len(d.Id) > len(id) && d.Id[:len(id)] == id {
			found = append(found, d)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, exit.Usage(fmt.Errorf("there is no deployment %q", id), "see pipedeck deployments")
	default:
		return nil, exit.Usage(fmt.Errorf("%q begins %d deployments", id, len(found)), "give more of the id")
	}
}

// FindRunning finds a deployment like FindDeployment does, or by the name of its application when that has one
// under way. flags name the environment in a command for the user.
func (s *State) FindRunning(name, flags string) (*deckv1.Deployment, error) {
	var ids []string
	var found *deckv1.Deployment
	known := false
	for _, a := range s.Applications() {
		if a.Name != name {
			continue
		}
		known = true
		for _, d := range s.Deployments(a.Id) {
			if !state.Ended(d.Status) {
				found = d
				ids = append(ids, d.Id)
			}
		}
	}
	switch {
	case !known:
		return s.FindDeployment(name)
	case len(ids) == 0:
		return nil, exit.Usage(fmt.Errorf("no deployment of %q is under way", name), "see pipedeck deployments")
	case len(ids) > 1:
		return nil, exit.Usage(fmt.Errorf("%d deployments of %q are under way", len(ids), name),
			"run one of:\n  pipedeck cancel "+strings.Join(ids, flags+"\n  pipedeck cancel ")+flags)
	default:
		return found, nil
	}
}

// Choices returns the next step that names what there is to choose from.
func Choices(what string, names []string) string {
	if len(names) == 0 {
		return "there is no " + what + " at present; see pipedeck status"
	}
	return "choose one of: " + strings.Join(names, ", ")
}
