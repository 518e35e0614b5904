// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/tui/state"
)

// clearTime is how long ci waits for problems to clear once everything is deployed: a passing one is no reason to fail.
const clearTime = 15 * time.Second

// checkHealth returns an error with exit.Degraded when the environment has problems that do not clear within clearTime.
// Problems that expected reports true for do not count.
func checkHealth(ctx context.Context, deck deckv1.DeckServiceClient, expected func(*deckv1.Problem) bool) error {
	problems, err := awaitHealth(ctx, deck, clearTime, expected)
	if err != nil || len(problems) == 0 {
		return err
	}
	var causes []string
	for _, p := range problems {
		causes = append(causes, p.GetPart()+": "+p.GetReason())
	}
	return exit.With(
		exit.Degraded,
		fmt.Errorf("everything was deployed, but the environment is degraded by %s: %s",
			line.Count(len(problems), "problem"), strings.Join(causes, "; ")),
		problems[0].GetNextStep(),
	)
}

// awaitHealth waits until no problem is left but those that are expected, at most for patience, and returns those that
// are left then.
func awaitHealth(ctx context.Context, deck deckv1.DeckServiceClient, patience time.Duration,
	expected func(*deckv1.Problem) bool) ([]*deckv1.Problem, error) {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer time.AfterFunc(patience, cancel).Stop()
	stream, err := deck.Watch(waiting, &deckv1.WatchRequest{})
	if err != nil {
		return nil, fmt.Errorf("ask the environment: %w", err)
	}
	current := state.New()
	left := func() []*deckv1.Problem { return slices.DeleteFunc(current.Problems(), expected) }
	for !current.Synced() || len(left()) > 0 {
		response, err := stream.Recv()
		switch {
		case err != nil && current.Synced() && ctx.Err() == nil && waiting.Err() != nil:
			return left(), nil
		case err != nil:
			return nil, fmt.Errorf("ask the environment for its health: %w", err)
		}
		for _, event := range response.GetEvents() {
			current.Apply(event)
		}
	}
	return nil, nil
}
