// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// newPluginCommand groups what authors of plugins need besides `up --plugin`, and what handles binaries.
func newPluginCommand(t *target) *cobra.Command {
	cmd := &cobra.Command{
		Use: "plugin", Short: "Write, publish, sign, fetch and check plugins",
		Args: cobra.ArbitraryArgs, // cobra would print the help and end with 0
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return usageError(fmt.Errorf("plugin command %q is unknown", args[0]), "see: pipedeck plugin --help")
		},
	}
	cmd.AddCommand(
		newPluginNewCommand(), newPluginTestCommand(), newPluginRecordCommand(t), newPluginReplayCommand(),
		newPluginProtosCommand(),
		newPluginListCommand(), newPluginInfoCommand(), newPluginInstallCommand(), newPluginVerifyCommand(),
		newPluginPushCommand(),
		newPluginSignCommand(), newPluginSchemaCommand(),
	)
	return cmd
}
