// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc"

	"github.com/spf13/pflag"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/defaults"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/text"
)

// CallTimeout bounds a single request to an environment on this machine.
const CallTimeout = 10 * time.Second

// Target names the environment that a subcommand is about.
type Target struct {
	// Name is that of the environment.
	Name string
	// StateDir is where environments live; empty for the user's state directory.
	StateDir string
	// flags are those of Register; nil for none.
	flags *pflag.FlagSet
}

// Register adds the flags that choose the environment.
func (t *Target) Register(flags *pflag.FlagSet) {
	t.flags = flags
	flags.StringVar(&t.Name, "name", "default", "name of the environment; several can run side by side")
	flags.StringVar(&t.StateDir, "state-dir", "", "where environments live (default: the user's state directory)")
}

// Root returns the directory that holds the environments.
func (t *Target) Root() (string, error) {
	if t.StateDir != "" {
		return filepath.Abs(t.StateDir)
	}
	root, err := workspace.Root()
	if err != nil {
		return "", exit.Usage(err, "give a directory with --state-dir")
	}
	return root, nil
}

// Workspace returns the directory of the environment, which need not exist. It warns on standard error.
func (t *Target) Workspace() (*workspace.Workspace, error) {
	root, err := t.Root()
	if err != nil {
		return nil, err
	}
	w, err := workspace.At(root, t.Name)
	if err != nil {
		return nil, exit.Usage(err, "choose another --name")
	}
	w.Warn = func(line string) { fmt.Fprintln(os.Stderr, text.Clean(line)) }
	w.Explicit = t.flags != nil && (defaults.Set(t.flags.Lookup("name")) || defaults.Set(t.flags.Lookup("state-dir")))
	return w, nil
}

// Flags returns the flags that a command for the user needs so that it finds the environment; "" when there is no such
// environment.
func (t *Target) Flags() string {
	w, err := t.Workspace()
	if err != nil {
		return ""
	}
	return Flags(w)
}

// Connect reaches the running environment; close the connection after use.
func (t *Target) Connect(ctx context.Context) (deckv1.DeckServiceClient, *grpc.ClientConn, error) {
	w, err := t.Workspace()
	if err != nil {
		return nil, nil, err
	}
	alive, err := w.Alive()
	if err != nil {
		return nil, nil, exit.Explain(ctx, err)
	}
	if now := workspace.Preparing(w); !alive && now != nil {
		return nil, nil, exit.With(exit.NotStarted, fmt.Errorf("environment %q is still starting: %s for %s", w.Name,
			text.Clean(now.What), time.Since(now.Since).Round(time.Second)), "try again in a moment")
	}
	if !alive {
		return nil, nil, exit.With(exit.NotStarted, &NotRunningError{w.Name},
			"start it with: "+StartCommand(w))
	}
	return Dial(ctx, w)
}

// Ended returns the error of a command that still needed the environment when it ended.
func (t *Target) Ended() error {
	w, err := t.Workspace()
	if err != nil {
		return err
	}
	return exit.With(exit.NotStarted, fmt.Errorf("environment %q has ended", w.Name),
		"start it with: "+StartCommand(w))
}

// NotRunningError says that there is no environment to connect to.
type NotRunningError struct{ Name string }

func (e *NotRunningError) Error() string { return fmt.Sprintf("no environment %q is running", e.Name) }
