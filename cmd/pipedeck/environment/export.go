// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

// exportTimeout bounds how long the state may take to be read.
const exportTimeout = 2 * time.Minute

func newExportCommand(t *session.Target) *cobra.Command {
	return &cobra.Command{
		Use: "export FILE", Short: "Write the state of an environment to a file", Args: cobra.ExactArgs(1),
		Long: `Write what a running environment shows to a file, for a bug report: applications, deployments with
their stages and logs, plugins, live resources. Secrets are masked as in the UI. "pipedeck replay FILE"
shows it, on any machine.

To record what happens from now on, use "pipedeck attach --record FILE".`,
		Example: "  pipedeck export report.pipedeck",
		RunE: func(cmd *cobra.Command, args []string) error {
			deck, conn, err := t.Connect(cmd.Context())
			if err != nil {
				return err
			}
			defer conn.Close()
			file, err := createSession(args[0])
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), exportTimeout)
			defer cancel()
			if err := file.record(ctx, deck, t.Name, true); err != nil {
				return exit.Explain(cmd.Context(), errors.Join(err, file.discard()))
			}
			size, err := file.close()
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "wrote %s (%s)\n  look at it:   pipedeck replay %s\n", args[0],
				view.Bytes(uint64(size)), text.ShellWord(args[0]))
			return nil
		},
	}
}
