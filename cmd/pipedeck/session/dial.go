// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"cmp"
	"context"
	"fmt"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"

	"google.golang.org/grpc"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/controlplane/client"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/exhaustion"
)

// Dial connects to the process that runs an environment, and waits at most CallTimeout for one that has just begun to
// start. The caller closes the connection.
func Dial(ctx context.Context, w *workspace.Workspace) (deckv1.DeckServiceClient, *grpc.ClientConn, error) {
	bounded, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	running, err := w.AwaitPublished(bounded)
	switch {
	case err != nil && bounded.Err() != nil && ctx.Err() == nil:
		return nil, nil, exit.With(exit.NotStarted, fmt.Errorf("environment %q is still starting", w.Name),
			"try again in a moment")
	case err != nil:
		return nil, nil, exit.With(
			exit.NotStarted, fmt.Errorf("wait for environment %q: %w", w.Name, err),
			cmp.Or(exhaustion.WatchAdvice(err),
				"run it again; if it happens again, see the logs below the state directory"),
		)
	}
	key, err := w.Keys().APIKey()
	if err != nil {
		return nil, nil, err
	}
	conn, err := client.Dial(running.Address, key)
	if err != nil {
		return nil, nil, fmt.Errorf("reach environment %q at %s: %w", w.Name, running.Address, err)
	}
	return deckv1.NewDeckServiceClient(conn), conn, nil
}
