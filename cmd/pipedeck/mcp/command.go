// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/version"
)

// NewCommand returns the command that serves assistants.
func NewCommand(t *session.Target) *cobra.Command {
	var changes bool
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve an environment to assistants", Args: cobra.NoArgs,
		Long: `Serve the Model Context Protocol on standard input and output, for assistants that run next to your
editor or terminal. They can read the status, applications, deployments, logs, live resources, and why a
deployment failed or waits; validate configuration files; and preview what a commit would deploy.
Secrets are masked as everywhere.

They can change nothing unless --allow-changes is given: then they also sync, approve, cancel and roll
back. Configure the assistant to run this command; it looks at the environment of --name.`,
		Example: "  pipedeck mcp\n  pipedeck mcp --name demo\n  pipedeck mcp --allow-changes",
		RunE: func(cmd *cobra.Command, _ []string) error {
			program, err := os.Executable()
			if err != nil {
				return err
			}
			r := &runner{program: filepath.Join(filepath.Dir(program), "pipedeck"), slots: make(chan struct{}, atOnce)}
			r.flags = []string{"--name=" + t.Name}
			if t.StateDir != "" {
				r.flags = append(r.flags, "--state-dir="+t.StateDir)
			}
			return ended(cmd.Context(), newServer(r, changes).Run(cmd.Context(), transport(os.Stdin, os.Stdout)))
		},
	}
	cmd.Flags().BoolVar(&changes, "allow-changes", false, "let assistants sync, approve, cancel and roll back")
	return cmd
}

// ended is how the server ends: without an error when the assistant has closed its side.
func ended(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return exit.Silent(exit.Interrupted)
	default:
		return exit.With(exit.Failed, fmt.Errorf("read the messages of the assistant: %w", err),
			"configure the assistant to run pipedeck mcp; it speaks the Model Context Protocol, one message a line")
	}
}

// newServer returns the server with its tools.
func newServer(r *runner, changes bool) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "pipedeck", Title: "pipedeck", Version: version.Build()},
		&mcp.ServerOptions{Instructions: instructions})
	s.AddReceivingMiddleware(withNextStep)
	addReading(s, r)
	if changes {
		addChanges(s, r)
	}
	return s
}

const instructions = "A local environment in which piped, PipeCD's deployment agent, deploys applications from a " +
	"Git repository to Kubernetes. Begin with the tool why when something failed or waits, and with status for the " +
	"whole. Applications are named as in the tool applications. Results are JSON with the fields of pipedeck's " +
	"-o json; errors end with the next step."
