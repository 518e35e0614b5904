// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/state"
)

// clearTime is how long ci waits for problems to clear once everything is deployed: a passing one is no reason to fail.
const clearTime = 15 * time.Second

func newStatusCommand(t *target) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use: "status", Short: "Show the parts, pipeds and problems of an environment", Args: cobra.NoArgs,
		Long: `Show the parts of the environment and its pipeds, and a table of problems with the next step for each.
Exit code 0: all parts work; 5: the environment is degraded.`,
		Example: "  pipedeck status\n  pipedeck status -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return t.call(cmd.Context(), func(ctx context.Context, deck deckv1.DeckServiceClient) error {
				s, err := takeSnapshot(ctx, deck)
				if err != nil {
					return err
				}
				show := printStatus
				if output == "json" {
					show = printStatusJSON
				}
				if err := show(cmd.OutOrStdout(), s); err != nil {
					return err
				}
				if len(s.Problems()) > 0 {
					return &exitError{code: exitDegraded}
				}
				return nil
			})
		},
	}
	addOutputFlag(cmd, &output)
	return cmd
}

func printStatus(w io.Writer, s *snapshot) error {
	var components, problems [][]string
	for _, c := range s.Components() {
		components = append(components, []string{c.GetName(), reader.Name(c.GetState()),
			took(c.GetStartedAt(), c.GetEndedAt()), c.GetDetail()})
	}
	if err := printTable(w, []string{"COMPONENT", "STATE", "TOOK", "DETAIL"}, components); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if err := printTable(w, []string{"PIPED", "STATE", "VERSION", "APPLICATIONS", "REPOSITORIES", "ID"},
		pipedRows(s)); err != nil {
		return err
	}
	for _, p := range s.Problems() {
		problems = append(problems, []string{p.GetPart(), took(p.GetSince(), nil), p.GetReason(), p.GetNextStep()})
	}
	if len(problems) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\ndegraded: %s\n", countProblems(len(problems)))
	return printTable(w, []string{"PART", "FOR", "REASON", "NEXT STEP"}, problems)
}

func pipedRows(s *snapshot) [][]string {
	applications := map[string]int{}
	for _, a := range s.Applications() {
		applications[a.GetPipedId()]++
	}
	var rows [][]string
	for _, p := range s.Pipeds() {
		rows = append(rows, []string{
			p.GetName(), reader.Name(p.GetState()), p.GetVersion(), fmt.Sprint(applications[p.GetId()]),
			strings.Join(p.GetRepositories(), ","), p.GetId(),
		})
	}
	return rows
}

func printStatusJSON(w io.Writer, s *snapshot) error {
	return printJSON(w, map[string]any{
		"environment": s.Environment(), "components": s.Components(), "pipeds": s.Pipeds(),
		"degraded": len(s.Problems()) > 0, "problems": s.Problems(),
	})
}

func countProblems(n int) string {
	if n == 1 {
		return "1 problem"
	}
	return fmt.Sprintf("%d problems", n)
}

// checkHealth returns an error with exitDegraded when the environment has problems that do not clear within clearTime.
func checkHealth(ctx context.Context, deck deckv1.DeckServiceClient) error {
	problems, err := awaitHealth(ctx, deck, clearTime)
	if err != nil || len(problems) == 0 {
		return err
	}
	var causes []string
	for _, p := range problems {
		causes = append(causes, p.GetPart()+": "+p.GetReason())
	}
	return &exitError{
		exitDegraded,
		fmt.Errorf("everything was deployed, but the environment is degraded by %s: %s", countProblems(len(problems)),
			strings.Join(causes, "; ")),
		problems[0].GetNextStep(),
	}
}

// awaitHealth waits until no problem is left, at most for patience, and returns those that are left then.
func awaitHealth(ctx context.Context, deck deckv1.DeckServiceClient, patience time.Duration) ([]*deckv1.Problem,
	error) {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer time.AfterFunc(patience, cancel).Stop()
	stream, err := deck.Watch(waiting, &deckv1.WatchRequest{})
	if err != nil {
		return nil, fmt.Errorf("ask the environment: %w", err)
	}
	current := state.New()
	for !current.Synced() || len(current.Problems()) > 0 {
		response, err := stream.Recv()
		switch {
		case err != nil && current.Synced() && ctx.Err() == nil && waiting.Err() != nil:
			return current.Problems(), nil
		case err != nil:
			return nil, fmt.Errorf("ask the environment for its health: %w", err)
		}
		for _, event := range response.GetEvents() {
			current.Apply(event)
		}
	}
	return nil, nil
}
