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
	"github.com/pipedeck/pipedeck/cmd/pipedeck/scaffold"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

// Run executes one command line and returns its exit code. It is Program.Run without the sources of the SDK.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return Program{}.Run(ctx, args, stdout, stderr)
}

// RunWith is Run with the defaults of flags from a source.
func RunWith(ctx context.Context, from defaults.Source, args []string, stdout, stderr io.Writer) int {
	return Program{}.run(ctx, from, args, stdout, stderr)
}

// Program is what the commands have of the program that they are in.
type Program struct {
	// SDK returns the sources of the SDK. They are large: only pipedeck has them, not all that know its commands.
	SDK scaffold.Archive
}

// Run executes one command line and returns its exit code.
func (p Program) Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return p.run(ctx, defaults.OfUser(), args, stdout, stderr)
}

func (p Program) run(ctx context.Context, from defaults.Source, args []string, stdout, stderr io.Writer) int {
	target := &session.Target{}
	root := p.commands(target)
	if err := defaults.Apply(root, args, from); err != nil {
		return exit.Fail(exit.With(exit.WrongUsage, err, defaults.Hint), target.Flags, stderr)
	}
	if other := more.Find(root, args); other != nil {
		return exit.Run(ctx, more.NewCommand(target, other.Name(), args), []string{}, target.Flags, stdout, stderr)
	}
	return exit.Run(ctx, root, args, target.Flags, stdout, stderr)
}

// New returns the root command with all others. It describes them; plugin new has no SDK.
func New(target *session.Target) *cobra.Command { return Program{}.commands(target) }

func (p Program) commands(target *session.Target) *cobra.Command {
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
	root.AddCommand(more.Commands(scaffold.NewCommand(p.SDK))...)
	root.AddCommand(newVersionCommand(), newCompletionCommand())
	addVersionFlag(root)
	complete.Add(root, target)
	return root
}
