// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command pipedeck-more has the commands of pipedeck that environments do not need. Users run them as commands of
// pipedeck: see package more. It is also the helper of running environments: see package helper.
package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/complete"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/configuration"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/defaults"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/mcp"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/plugin"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

func main() { exit.Main(run) }

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	target := &session.Target{}
	root := newRootCommand(target)
	from := defaults.OfUser()
	from.Part = true
	if err := defaults.Apply(root, args, from); err != nil {
		return exit.Fail(exit.With(exit.WrongUsage, err, defaults.Hint), target.Flags, stderr)
	}
	return exit.Run(ctx, root, args, target.Flags, stdout, stderr)
}

// newRootCommand is named like the program that users run.
func newRootCommand(target *session.Target) *cobra.Command {
	root := &cobra.Command{Use: "pipedeck", Short: "Run piped and its plugins against a local Kubernetes"}
	target.Register(root.PersistentFlags())
	root.AddCommand(configuration.Commands(target)...)
	root.AddCommand(plugin.NewCommand(target))
	root.AddCommand(mcp.NewCommand(target), newServeCommand())
	complete.Add(root, target)
	return root
}
