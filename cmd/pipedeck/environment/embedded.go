// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/embedded"
)

// newEmbeddedCommand compiles the embedded Kubernetes ahead of its first use, for tests and for
// images that shall start at once. It prints the path of the program.
func newEmbeddedCommand() *cobra.Command {
	return &cobra.Command{
		Use: "compile-embedded", Short: "Compile the embedded Kubernetes and print its path", Args: cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			program, err := embedded.NewProgram()
			if err != nil {
				return err
			}
			last := int64(-1)
			path, err := program.Ensure(cmd.Context(), func(detail string, done, total int64) {
				// A line for every fiftieth package is progress enough for a log.
				if done == 0 || done/50 != last {
					last = done / 50
					fmt.Fprintf(cmd.ErrOrStderr(), "embedded Kubernetes: %s %d/%d\n", detail, done, total)
				}
			})
			if err != nil {
				hint := "install Go, and run make embeddedk8s in a clone of the repository"
				if known := (*cluster.HintError)(nil); errors.As(err, &known) {
					hint = known.Hint
				}
				return exit.With(exit.NotStarted, err, hint)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), path)
			return err
		},
	}
}
