// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
)

// Session is what a command has of a running environment: the connection, the state when the command began, and where
// it prints to.
type Session struct {
	Deck     deckv1.DeckServiceClient
	Previews deckv1.PlanPreviewServiceClient
	// PluginCalls lists the calls between pipeds and their plugins.
	PluginCalls deckv1.PluginCallServiceClient
	// Development is for authors of plugins.
	Development deckv1.PluginDevelopmentServiceClient
	// Faults has faults happen on purpose.
	Faults deckv1.FaultServiceClient
	// Sharing knows where others watch.
	Sharing deckv1.SharingServiceClient
	State   *State
	// Flags are what a command for the user needs so that it finds the same environment.
	Flags    string
	Out, Err io.Writer
}

// Run connects a command to the running environment, reads its state and calls steps. CallTimeout bounds the reading,
// and the steps.
func (t *Target) Run(cmd *cobra.Command, steps func(context.Context, *Session) error) error {
	return t.RunLong(cmd, func(ctx context.Context, s *Session) error {
		return t.answered(ctx, func(bounded context.Context) error { return steps(bounded, s) })
	})
}

// RunLong is Run for steps that may take as long as they need, such as reading a log that grows: CallTimeout bounds
// only the reading of the state.
func (t *Target) RunLong(cmd *cobra.Command, steps func(context.Context, *Session) error) error {
	ctx := cmd.Context()
	deck, conn, err := t.Connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	s := &Session{
		Deck: deck, Previews: deckv1.NewPlanPreviewServiceClient(conn),
		PluginCalls: deckv1.NewPluginCallServiceClient(conn), Faults: deckv1.NewFaultServiceClient(conn),
		Sharing:     deckv1.NewSharingServiceClient(conn),
		Development: deckv1.NewPluginDevelopmentServiceClient(conn), Flags: t.Flags(),
		Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr(),
	}
	err = t.answered(ctx, func(bounded context.Context) (err error) {
		s.State, err = ReadState(bounded, deck)
		return err
	})
	if err == nil {
		err = steps(ctx, s)
	}
	return exit.Explain(ctx, err)
}

// answered calls a request to the environment, which gets an answer within CallTimeout or is an error that says so.
func (t *Target) answered(ctx context.Context, call func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	err := call(bounded)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return exit.With(exit.NotStarted, fmt.Errorf("environment %q does not answer", t.Name),
			"try again; what it is doing is in logs/host.log in its directory")
	}
	return err
}
