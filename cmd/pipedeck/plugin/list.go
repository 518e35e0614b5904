// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import "github.com/spf13/cobra"

func newListCommand() *cobra.Command {
	return binaryCommand{
		use: "list", short: "List the plugins of a piped configuration and their binaries",
		long: `List the plugins of a piped configuration: where their binaries come from, and whether they are on this
machine. No server is asked and nothing is checked; running plugins are shown by pipedeck plugins.

With --index alone, the plugins of that index are listed.`,
		example: `  pipedeck plugin list --config-file piped.yaml
  pipedeck plugin list kubernetes --config-file piped.yaml -o json
  pipedeck plugin list --index https://example.com/plugins/index.yaml`,
		find: findBinary, print: binariesTable, index: indexTable,
	}.command()
}
