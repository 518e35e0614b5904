// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/spf13/cobra"

// newPluginCommand groups what authors of plugins need besides `up --plugin`, and what handles binaries.
func newPluginCommand(t *target) *cobra.Command {
	cmd := &cobra.Command{
		Use: "plugin", Short: "Write, publish, sign, fetch and check plugins",
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(
		newPluginNewCommand(), newPluginTestCommand(), newPluginRecordCommand(t), newPluginReplayCommand(), newPluginProtosCommand(),
		newPluginListCommand(), newPluginInfoCommand(), newPluginInstallCommand(), newPluginVerifyCommand(), newPluginPushCommand(),
		newPluginSignCommand(),
	)
	return cmd
}
