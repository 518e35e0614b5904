// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
)

// State is the state of an environment at one moment.
type State struct{ *state.Deck }

// maxListed bounds the deployments of one application in a snapshot: more than an environment keeps, with those under
// way.
const maxListed = 10_000

// ReadState reads the state that Watch sends first.
func ReadState(ctx context.Context, deck deckv1.DeckServiceClient) (*State, error) {
	return AwaitState(ctx, deck, func(*State) bool { return true })
}

// AwaitState reads the state, and what changes, until the condition holds. When ctx ends before, it returns the state
// so far with the error of ctx.
func AwaitState(ctx context.Context, deck deckv1.DeckServiceClient, holds func(*State) bool) (*State, error) {
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := deck.Watch(ctx, &deckv1.WatchRequest{})
	if err != nil {
		return nil, fmt.Errorf("ask the environment: %w", err)
	}
	s := &State{Deck: state.Keeping(maxListed)}
	for !s.Synced() || !holds(s) {
		response, err := stream.Recv()
		switch {
		case err != nil && s.Synced() && outer.Err() != nil:
			return s, outer.Err()
		case err != nil:
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
	return newestFirst(all)
}

// EveryDeployment returns those of all applications and of those that were removed, the newest first.
func (s *State) EveryDeployment() []*deckv1.Deployment {
	return newestFirst(slices.Concat(s.AllDeployments(), state.OfRemoved(s.Deck)))
}

func newestFirst(all []*deckv1.Deployment) []*deckv1.Deployment {
	slices.SortStableFunc(all, func(a, b *deckv1.Deployment) int {
		return b.CreatedAt.AsTime().Compare(a.CreatedAt.AsTime())
	})
	return all
}

// Choices returns the next step that names what there is to choose from.
func Choices(what string, names []string) string {
	if len(names) == 0 {
		return "there is no " + what + " at present; see pipedeck status"
	}
	return "choose one of: " + strings.Join(names, ", ")
}
