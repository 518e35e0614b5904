// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/scaffold"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

// NewCommand groups what authors of plugins need besides `up --plugin`, and what handles binaries.
func NewCommand(t *session.Target) *cobra.Command {
	cmd := &cobra.Command{
		Use: "plugin", Short: "Write, publish, sign, fetch and check plugins",
		Args: cobra.ArbitraryArgs, // cobra would print the help and end with 0
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return exit.Usage(fmt.Errorf("plugin command %q is unknown", args[0]), "see: pipedeck plugin --help")
		},
	}
	cmd.AddCommand(
		scaffold.NewCommand(nil), newTestCommand(), newDevCommand(t), newRerunCommand(t), newAttachCommand(t),
		newDetachCommand(t),
		newCallsCommand(t), newRecordCommand(t),
		newShowCommand(), newReplayCommand(),
		newProtosCommand(),
		newListCommand(), newInfoCommand(), newInstallCommand(), newVerifyCommand(),
		newPackCommand(), newPushCommand(),
		newSignCommand(), newSchemaCommand(),
	)
	return cmd
}
