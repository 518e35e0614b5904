// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
)

func newInstallCommand() *cobra.Command {
	return binaryCommand{
		use: "install", short: "Fetch and check the plugins of a piped configuration",
		long: `Download the plugins of a piped configuration to where a piped with the same work directory looks for
them, and check their digests and signatures. That piped starts without a network then.

With --index and without a piped configuration, NAME or NAME@VERSION is a plugin of that index.`,
		example: `  pipedeck plugin install --config-file piped.yaml
  pipedeck plugin install kubernetes --config-file piped.yaml --work-dir /var/lib/piped
  pipedeck plugin install canary@v1.2.0 --index https://example.com/plugins/index.yaml`,
		asks: true, find: installBinary, print: binariesTable,
	}.command()
}

func installBinary(ctx context.Context, fetcher *fetch.Fetcher, plugin config.Plugin) pluginBinary {
	if fetch.Remote(plugin.URL) {
		file, err := fetcher.Fetch(ctx, fetch.RequestOf(plugin))
		b := findBinary(ctx, fetcher, plugin)
		if err != nil {
			b.Problem = err.Error()
			return b
		}
		b.Path, b.SHA256, b.State = file.Path, file.SHA256, "unchanged"
		switch {
		case file.Downloaded:
			b.State = "downloaded"
		case file.Stale != nil:
			b.State = "stale"
			b.Warning = "it is as it was fetched before, because its url cannot be reached: " + file.Stale.Error()
		}
		b.verify(ctx, fetcher, plugin)
		return b
	}
	return verifyBinary(ctx, fetcher, plugin)
}
