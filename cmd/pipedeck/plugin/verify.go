// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
)

func newVerifyCommand() *cobra.Command {
	return binaryCommand{
		use: "verify", short: "Check the plugins of a piped configuration",
		long: `Check digest and signature of the binaries that are on this machine, as piped does before each start.
Binaries are not downloaded; a signature is when it is not here.`,
		example: `  pipedeck plugin verify --config-file piped.yaml
  pipedeck plugin verify kubernetes --config-file piped.yaml -o json`,
		find: verifyBinary, print: binariesTable,
	}.command()
}

func verifyBinary(ctx context.Context, fetcher *fetch.Fetcher, plugin config.Plugin) pluginBinary {
	b := findBinary(ctx, fetcher, plugin)
	switch {
	case b.Problem != "":
	case b.Path == "":
		b.Problem = "it has not been fetched: run pipedeck plugin install " + plugin.Name
	default:
		b.verify(ctx, fetcher, plugin)
	}
	return b
}
