// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command pipedeck brings up a local environment for piped and shows it in a terminal.
//
// One file holds one subcommand. What each does, its flags and exit codes are a contract that
// scripts rely on: errors go to standard error and end with the next step.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/tui/text"
)

func main() {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does
		// A terminal that is closed ends what runs in it in good order.
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	var exit *exitError
	if !errors.As(err, &exit) {
		exit = &exitError{code: exitUsage, err: err, hint: "see " + cmd.CommandPath() + " --help"}
	}
	if exit.err != nil {
		// Errors quote what others wrote: commits, plugins, compilers.
		fmt.Fprintln(stderr, "pipedeck:", text.Clean(exit.err.Error()))
		if exit.hint != "" {
			fmt.Fprintln(stderr, "next step:", exit.hint)
		}
	}
	return exit.code
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "pipedeck",
		Short: "Run piped and its plugins against a local Kubernetes",
		Example: `  pipedeck up --sample hello-world   a sample repository
  pipedeck up                        the repository you are in
  pipedeck up ~/src/my-app           a repository of yours
  pipedeck ci --output json          the same without a terminal, then gone
  pipedeck down                      stop and remove the environment`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	target := &target{}
	root.PersistentFlags().StringVar(&target.name, "name", "default",
		"name of the environment; several can run side by side")
	root.PersistentFlags().StringVar(&target.stateDir, "state-dir", "",
		"where environments live (default: the user's state directory)")
	root.AddCommand(
		newUpCommand(target), newHostCommand(target), newCICommand(target), newAttachCommand(target),
		newStatusCommand(target), newAppsCommand(target), newDeploymentsCommand(target), newPluginsCommand(target),
		newLogsCommand(target),
		newSyncCommand(target), newApproveCommand(target), newSkipCommand(target), newCancelCommand(target),
		newRestartCommand(target),
		newOpenCommand(target), newPlanPreviewCommand(target), newEncryptCommand(target),
		newDownCommand(target), newDoctorCommand(target), newEmbeddedCommand(), newVersionCommand(),
		newValidateCommand(), newMigrateCommand(), newPluginCommand(target), newPipedCommand(target),
	)
	return root
}
