// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package root

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/action"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/complete"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/defaults"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/environment"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/inspect"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/more"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

// Run executes one command line and returns its exit code.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return RunWith(ctx, defaults.OfUser(), args, stdout, stderr)
}

// RunWith is Run with the defaults of flags from a source.
func RunWith(ctx context.Context, from defaults.Source, args []string, stdout, stderr io.Writer) int {
	target := &session.Target{}
	root := New(target)
	if err := defaults.Apply(root, args, from); err != nil {
		return exit.Fail(exit.With(exit.WrongUsage, err, defaults.Hint), target.Flags, stderr)
	}
	if other := more.Find(root, args); other != nil {
		return exit.Run(ctx, more.NewCommand(target, other.Name(), args), []string{}, target.Flags, stdout, stderr)
	}
	return exit.Run(ctx, root, args, target.Flags, stdout, stderr)
}

// New returns the root command with all others.
func New(target *session.Target) *cobra.Command {
	root := &cobra.Command{
		Use:   "pipedeck",
		Short: "Run piped and its plugins against a local Kubernetes",
		Example: `  pipedeck up --sample hello-world   a sample repository
  pipedeck up                        the repository you are in
  pipedeck up ~/src/my-app           a repository of yours
  pipedeck ci --output json          the same without a terminal, then gone
  pipedeck down                      stop and remove the environment`,
	}
	target.Register(root.PersistentFlags())
	root.AddCommand(environment.Commands(target)...)
	root.AddCommand(inspect.Commands(target)...)
	root.AddCommand(action.Commands(target)...)
	root.AddCommand(more.Commands()...)
	root.AddCommand(newVersionCommand(), newCompletionCommand())
	addVersionFlag(root)
	complete.Add(root, target)
	return root
}
