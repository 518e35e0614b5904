// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command piped is the agent of pipedeck alone: it watches Git repositories and deploys their applications
// through plugins, as a control plane that speaks PipeCD v1's protocol asks and shows. Its flags are those
// of PipeCD v1's piped.
//
// The environment variables OTEL_EXPORTER_OTLP_* send traces elsewhere than to the control plane.
//
// Exit codes: 0 after a stop that was asked for, 2 for wrong usage or configuration, 1 for the rest.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/system/plainerror"
)

// version is set by the linker.
var version = "development"

const (
	exitFailure = 1
	exitUsage   = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := rootCommand().ExecuteContext(ctx)
	stop()
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "piped:", plainerror.Text(err))
	var usage *usageError
	if errors.As(err, &usage) {
		os.Exit(exitUsage)
	}
	os.Exit(exitFailure)
}

// usageError is a mistake of the user: in the flags or in the configuration.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "piped",
		Short:         "Deploy the applications of Git repositories through plugins",
		SilenceUsage:  true,
		SilenceErrors: true,
		// Cobra's own errors of wrong words would end with the code of a failure.
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return &usageError{fmt.Errorf("%w; see %s --help", err, command.CommandPath())}
	})
	telemetry := &telemetryFlags{}
	telemetry.register(root.PersistentFlags())
	root.AddCommand(runCommand(telemetry), versionCommand())
	return root
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments,
		Run:   func(command *cobra.Command, _ []string) { fmt.Fprintln(command.OutOrStdout(), version) },
	}
}

func noArguments(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return &usageError{fmt.Errorf("%q is not a command or flag of %s; see %s --help", args[0], command.CommandPath(),
		command.CommandPath())}
}
