// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/spf13/cobra"

// newPluginCommand groups what authors of plugins need besides `up --plugin`.
func newPluginCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "plugin", Short: "Write and prepare plugins",
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(newPluginNewCommand(), newPluginProtosCommand())
	return cmd
}
