// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/client"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/exhaustion"
	"github.com/pipedeck/pipedeck/tui/text"
)

// callTimeout bounds a single request to an environment on this machine.
const callTimeout = 10 * time.Second

// target names the environment that a subcommand is about.
type target struct{ name, stateDir string }

// root is the directory that holds the environments.
func (t *target) root() (string, error) {
	if t.stateDir != "" {
		return filepath.Abs(t.stateDir)
	}
	root, err := workspace.Root()
	if err != nil {
		return "", usageError(err, "give a directory with --state-dir")
	}
	return root, nil
}

func (t *target) workspace() (*workspace.Workspace, error) {
	root, err := t.root()
	if err != nil {
		return nil, err
	}
	w, err := workspace.At(root, t.name)
	if err != nil {
		return nil, usageError(err, "choose another --name")
	}
	w.Warn = func(line string) { fmt.Fprintln(os.Stderr, text.Clean(line)) }
	return w, nil
}

// flags are what a command for the user must have so that it finds the environment; the workspace has been found
// before.
func (t *target) flags() string {
	w, err := t.workspace()
	if err != nil {
		return ""
	}
	return nameFlag(w)
}

// connect reaches the running environment; close the connection after use.
func (t *target) connect(ctx context.Context) (deckv1.DeckServiceClient, *grpc.ClientConn, error) {
	w, err := t.workspace()
	if err != nil {
		return nil, nil, err
	}
	alive, err := w.Alive()
	if err != nil {
		return nil, nil, explain(ctx, err)
	}
	if !alive {
		return nil, nil, &exitError{exitNotStarted, fmt.Errorf("no environment %q is running", w.Name),
			"start it with: pipedeck up" + nameFlag(w)}
	}
	return dial(ctx, w)
}

// dial also waits for an environment that has just begun to start.
func dial(ctx context.Context, w *workspace.Workspace) (deckv1.DeckServiceClient, *grpc.ClientConn, error) {
	bounded, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	running, err := w.AwaitPublished(bounded)
	switch {
	case err != nil && bounded.Err() != nil && ctx.Err() == nil:
		return nil, nil, &exitError{exitNotStarted, fmt.Errorf("environment %q is still starting", w.Name),
			"try again in a moment"}
	case err != nil:
		return nil, nil, &exitError{
			exitNotStarted, fmt.Errorf("wait for environment %q: %w", w.Name, err),
			cmp.Or(exhaustion.WatchAdvice(err),
				"run it again; if it happens again, see the logs below the state directory"),
		}
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

// call runs fn with a client of the running environment and a bounded context.
func (t *target) call(ctx context.Context, fn func(context.Context, deckv1.DeckServiceClient) error) error {
	deck, conn, err := t.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	bounded, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err = fn(bounded, deck)
	if bounded.Err() != nil && ctx.Err() == nil {
		return &exitError{exitNotStarted, fmt.Errorf("environment %q does not answer", t.name),
			"try again; what it is doing is in logs/host.log in its directory"}
	}
	return explain(ctx, err)
}
