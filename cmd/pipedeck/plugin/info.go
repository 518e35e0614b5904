// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
	"github.com/pipedeck/pipedeck/tui/text"
)

func newInfoCommand() *cobra.Command {
	return binaryCommand{
		use: "info", short: "Show all that is known of the binaries of plugins",
		long: `Show the whole digest of a binary, its file, and where its signature comes from. No server is asked
and nothing is checked. A program of this machine without a version in an index is asked for its own.

With --index alone, NAME is a plugin of that index, whose versions are shown.`,
		example: `  pipedeck plugin info kubernetes --config-file piped.yaml
  pipedeck plugin info kubernetes --config-file piped.yaml -o json
  pipedeck plugin info canary --index https://example.com/plugins/index.yaml`,
		find: findVersion, print: printBinaries, index: indexDetails,
	}.command()
}

// findVersion is findBinary with the version that the author gave a program of this machine. One of another machine is
// not run: its signature is not checked here.
func findVersion(ctx context.Context, fetcher *fetch.Fetcher, plugin config.Plugin) pluginBinary {
	b := findBinary(ctx, fetcher, plugin)
	if b.State == "local" {
		b.Version = pluginflag.PrintedVersion(ctx, b.Path)
	}
	return b
}

// printBinaries writes one line for each fact, and an empty one between plugins.
func printBinaries(w io.Writer, found []pluginBinary, _ *format.Output) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for i, b := range found {
		if i > 0 {
			fmt.Fprintln(table)
		}
		for _, fact := range [][2]string{
			{"name", b.Name}, {"index name", b.Reference}, {"version", b.Version}, {"url", b.URL}, {"state", b.State},
			{"file", b.Path}, {"sha256", b.SHA256}, {"pinned", yes(b.Pinned)},
			{"signature", b.Policy}, {"signed by", b.SignedBy}, {"signature url", b.SignatureURL},
			{"problem", b.Problem},
		} {
			if fact[1] != "" {
				fmt.Fprintf(table, "%s\t%s\n", fact[0], text.Line(fact[1]))
			}
		}
	}
	return table.Flush()
}
