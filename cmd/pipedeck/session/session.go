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
	Deck  deckv1.DeckServiceClient
	State *State
	// Flags are what a command for the user needs so that it finds the same environment.
	Flags    string
	Out, Err io.Writer
}

// Run connects a command to the running environment, reads its state and calls steps, all within CallTimeout.
func (t *Target) Run(cmd *cobra.Command, steps func(context.Context, *Session) error) error {
	ctx := cmd.Context()
	deck, conn, err := t.Connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	bounded, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	s := &Session{Deck: deck, Flags: t.Flags(), Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr()}
	if s.State, err = ReadState(bounded, deck); err == nil {
		err = steps(bounded, s)
	}
	if bounded.Err() != nil && ctx.Err() == nil {
		return exit.With(exit.NotStarted, fmt.Errorf("environment %q does not answer", t.Name),
			"try again; what it is doing is in logs/host.log in its directory")
	}
	return exit.Explain(ctx, err)
}
