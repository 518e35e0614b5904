// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch/index"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/text"
)

// pluginsOfIndex makes plugins of names in an index, without a piped configuration.
func pluginsOfIndex(names []string) ([]config.Plugin, error) {
	if len(names) == 0 {
		return nil, exit.Usage(errors.New("no plugin of the index is named"),
			"see them with: pipedeck plugin list --index INDEX")
	}
	var plugins []config.Plugin
	for _, name := range names {
		r, ok := index.ParseReference(name)
		if !ok {
			return nil, exit.Usage(fmt.Errorf("%q is no name of a plugin in an index", name),
				"write it as NAME or NAME@VERSION")
		}
		plugins = append(plugins, config.Plugin{Name: r.Name, URL: name})
	}
	return plugins, nil
}

// find looks a plugin up in the index where its url is a name, and then at its binary.
func (f *pluginFlags) find(ctx context.Context, fetcher *fetch.Fetcher, plugin config.Plugin, asks bool,
	find binaryFinder) pluginBinary {
	var resolved fetch.Resolved
	var err error
	known := true
	if asks {
		resolved, err = fetcher.Resolve(ctx, f.index, plugin)
	} else {
		resolved, known, err = fetcher.ResolveKept(f.index, plugin)
	}
	if err != nil || !known {
		b := pluginBinary{document.Binary{Name: plugin.Name, Reference: plugin.URL, State: "missing"}}
		if err != nil {
			b.Problem = err.Error()
		} else {
			b.Warning = "the plugin index is not here: run pipedeck plugin install " + plugin.Name
		}
		return b
	}
	b := find(ctx, fetcher, resolved.Plugin)
	if resolved.Version != "" {
		b.Reference, b.Version = plugin.URL, resolved.Version
	}
	if resolved.Stale != nil && b.Warning == "" {
		b.Warning = "the plugin index is as it was fetched before, because its url cannot be reached: " +
			resolved.Stale.Error()
	}
	return b
}

// showIndex shows the index itself, or the named plugins of it.
func showIndex(cmd *cobra.Command, flags *pluginFlags, names []string,
	print func(io.Writer, *index.Index, *format.Output) error) error {
	fetcher, err := flags.fetcher(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	found, err := fetcher.Index(cmd.Context(), flags.index)
	switch {
	case cmd.Context().Err() != nil:
		return exit.Silent(exit.Interrupted)
	case err != nil:
		var failed *fetch.Error
		if errors.As(err, &failed) {
			return exit.With(exit.Failed, fmt.Errorf("the plugin index %s: %w", failed.URL, failed.Err),
				failed.Step)
		}
		return err
	}
	chosen, err := choose(found.Index, names)
	if err != nil {
		return err
	}
	switch {
	case flags.output.Machine():
		return flags.output.Document(cmd.OutOrStdout(), indexDocument(chosen))
	case flags.output.Names():
		return flags.output.PrintNames(cmd.OutOrStdout(), slices.Sorted(maps.Keys(chosen.Plugins)))
	}
	return print(cmd.OutOrStdout(), chosen, &flags.output)
}

func indexDocument(x *index.Index) document.PluginIndex {
	all := document.PluginIndex{Head: document.NewHead(), Plugins: []document.IndexedPlugin{}}
	for _, name := range slices.Sorted(maps.Keys(x.Plugins)) {
		plugin := x.Plugins[name]
		one := document.IndexedPlugin{Name: name, Description: plugin.Description, Newest: plugin.Newest(),
			Versions: []document.IndexedVersion{}}
		for _, version := range plugin.Sorted() {
			binaries := []document.IndexedBinary{}
			for _, platform := range plugin.Versions[version].Platforms() {
				binary := plugin.Versions[version][platform]
				binaries = append(binaries, document.IndexedBinary{
					Platform: platform, URL: fetch.Redact(binary.URL), SHA256: binary.SHA256,
					Signature: fetch.Redact(binary.Signature),
				})
			}
			one.Versions = append(one.Versions, document.IndexedVersion{Version: version, Binaries: binaries})
		}
		all.Plugins = append(all.Plugins, one)
	}
	return all
}

// choose is the index with the named plugins alone, or with all when none is named.
func choose(x *index.Index, names []string) (*index.Index, error) {
	if len(names) == 0 {
		return x, nil
	}
	chosen := &index.Index{FormatVersion: x.FormatVersion, Plugins: map[string]index.Plugin{}}
	for _, name := range names {
		reference, ok := index.ParseReference(name)
		if !ok {
			return nil, exit.Usage(fmt.Errorf("%q is no name of a plugin in an index", name),
				"write it as NAME or NAME@VERSION")
		}
		plugin, err := x.Find(reference)
		if err != nil {
			var failed *index.Error
			errors.As(err, &failed)
			return nil, exit.Usage(failed.Err, failed.Step)
		}
		chosen.Plugins[reference.Name] = plugin
	}
	return chosen, nil
}

// indexTable is one line for each plugin.
func indexTable(w io.Writer, x *index.Index, output *format.Output) error {
	here := runtime.GOOS + "/" + runtime.GOARCH
	var body [][]string
	for _, name := range slices.Sorted(maps.Keys(x.Plugins)) {
		plugin := x.Plugins[name]
		newest, versions := plugin.Newest(), plugin.Sorted()
		_, available := plugin.Versions[newest][here]
		body = append(body, []string{name, newest, yes(available), strings.Join(versions[:min(len(versions), 5)], " "),
			plugin.Description})
	}
	return output.Table(w, format.Table{
		Columns: format.Heads("NAME", "NEWEST", "FOR "+here, "VERSIONS", "DESCRIPTION"), Rows: body,
	})
}

// indexDetails is one line for each binary.
func indexDetails(w io.Writer, x *index.Index, output *format.Output) error {
	for i, name := range slices.Sorted(maps.Keys(x.Plugins)) {
		plugin := x.Plugins[name]
		if i > 0 {
			fmt.Fprintln(w)
		}
		if plugin.Description != "" {
			fmt.Fprintf(w, "%s: %s\n", name, text.Line(plugin.Description))
		}
		var body [][]string
		for _, version := range plugin.Sorted() {
			for _, platform := range plugin.Versions[version].Platforms() {
				binary := plugin.Versions[version][platform]
				body = append(body, []string{name + "@" + version, platform, binary.SHA256, fetch.Redact(binary.URL)})
			}
		}
		table := format.Table{Columns: format.Heads("NAME", "PLATFORM", "SHA256", "URL"), Rows: body}
		if err := output.Table(w, table); err != nil {
			return err
		}
	}
	return nil
}
