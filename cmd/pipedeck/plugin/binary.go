// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch/index"
	"github.com/pipedeck/pipedeck/piped/workdir"
	"github.com/pipedeck/pipedeck/system/plainerror"
	"github.com/pipedeck/pipedeck/tui/document"
)

// pluginFlags say which piped the plugins are for.
type pluginFlags struct {
	configFile, workDir, index string
	output                     format.Output
}

// pluginBinary is what is known of the binary of a plugin.
type pluginBinary struct{ document.Binary }

// binaryFinder looks at the binary of a plugin whose url leads to it.
type binaryFinder func(context.Context, *fetch.Fetcher, config.Plugin) pluginBinary

// binaryCommand is a command on the binaries of plugins: of all plugins of a piped configuration, or of the named ones.
type binaryCommand struct {
	use, short, long, example string
	// asks has names looked up in the index as its server has it now, otherwise as it was fetched before.
	asks  bool
	find  binaryFinder
	print func(io.Writer, []pluginBinary, *format.Output) error
	// index shows the index itself when that is given without a piped configuration; nil for commands that do not.
	index func(io.Writer, *index.Index, *format.Output) error
}

// command returns the command, which runs find for each plugin and prints the results.
func (b binaryCommand) command() *cobra.Command {
	var flags pluginFlags
	cmd := &cobra.Command{
		Use: b.use + " [NAME...]", Short: b.short, Long: b.long, Example: b.example,
		RunE: func(cmd *cobra.Command, args []string) error { return b.run(cmd, &flags, args) },
	}
	cmd.Flags().StringVar(&flags.configFile, "config-file", "", "the piped configuration")
	cmd.Flags().StringVar(&flags.index, "index", "",
		"the plugin index, path or https:// (default that of the piped configuration); without --config-file, "+
			"NAME is a name in it")
	cmd.Flags().StringVar(&flags.workDir, "work-dir", "",
		"the work directory of piped (default piped in the user's cache directory)")
	format.AddListFlags(cmd, &flags.output)
	return cmd
}

func (b binaryCommand) run(cmd *cobra.Command, flags *pluginFlags, names []string) error {
	if b.index != nil && flags.index != "" && flags.configFile == "" {
		return showIndex(cmd, flags, names, b.index)
	}
	plugins, err := flags.plugins(names)
	if err != nil {
		return err
	}
	fetcher, err := flags.fetcher(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	found := []pluginBinary{}
	for _, plugin := range plugins {
		found = append(found, flags.find(cmd.Context(), fetcher, plugin, b.asks, b.find))
		if cmd.Context().Err() != nil {
			return exit.Silent(exit.Interrupted)
		}
	}
	return showBinaries(cmd.OutOrStdout(), found, &flags.output, b.print)
}

func (f *pluginFlags) plugins(names []string) ([]config.Plugin, error) {
	if f.configFile == "" && f.index != "" {
		return pluginsOfIndex(names)
	}
	if f.configFile == "" {
		return nil, exit.Usage(errors.New("no piped configuration is given"),
			"name it with --config-file piped.yaml, or a plugin index with --index")
	}
	piped, err := config.LoadPiped(f.configFile)
	if err != nil {
		return nil, exit.Usage(err, "pipedeck validate "+f.configFile)
	}
	f.index = cmp.Or(f.index, piped.PluginIndex)
	if len(names) == 0 {
		return piped.Plugins, nil
	}
	var chosen []config.Plugin
	for _, name := range names {
		found := resolve.Best(piped.Plugins, func(p config.Plugin) int { return resolve.Fit(name, p.Name) })
		if len(found) != 1 {
			problem := fmt.Errorf("no plugin of %s is named %q", f.configFile, name)
			if len(found) > 1 {
				problem = fmt.Errorf("%q fits %d plugins of %s", name, len(found), f.configFile)
			}
			return nil, exit.Usage(problem, "see them with: pipedeck plugin list --config-file "+f.configFile)
		}
		chosen = append(chosen, found[0])
	}
	return chosen, nil
}

func (f *pluginFlags) fetcher(logs io.Writer) (*fetch.Fetcher, error) {
	if f.workDir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, exit.Usage(err, "give a directory with --work-dir")
		}
		f.workDir = filepath.Join(cache, "piped")
	}
	logger := slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{ReplaceAttr: plainerror.Attr}))
	if err := workdir.Claim(f.workDir, logger); err != nil {
		return nil, exit.Usage(err, "give the work directory of piped with --work-dir")
	}
	return fetch.New(fetch.Options{Dir: fetch.CacheDir(fetch.BinaryDir(f.workDir)), Logger: logger}), nil
}

// findBinary looks at what is on this machine. No one is asked.
func findBinary(_ context.Context, fetcher *fetch.Fetcher, plugin config.Plugin) pluginBinary {
	u, _ := url.Parse(plugin.URL) // the configuration has been checked
	b := pluginBinary{document.Binary{Name: plugin.Name, URL: fetch.Redact(plugin.URL), State: "missing", SHA256: "",
		Pinned: plugin.SHA256 != "" || fetch.Pinned(plugin.URL)}}
	if plugin.Signature != nil {
		b.Policy, b.SignedBy, b.SignatureURL = plugin.Signature.Policy, plugin.Signature.PublicKey,
			fetch.Redact(fetch.SignatureURL(plugin))
	}
	if u.Scheme == "file" {
		digest, err := fetch.Digest(u.Path)
		if err != nil {
			b.Problem = fmt.Sprintf("the binary cannot be read: %s", err)
			return b
		}
		b.State, b.Path, b.SHA256 = "local", u.Path, digest
		return b
	}
	if kept, ok := fetcher.Kept(plugin.URL); ok {
		b.State, b.Path, b.SHA256 = "fetched", kept.Path, kept.SHA256
	}
	return b
}

// verify checks digest and signature of a binary that is here.
func (b *pluginBinary) verify(ctx context.Context, fetcher *fetch.Fetcher, plugin config.Plugin) {
	verified, err := fetcher.Verify(ctx, plugin, b.Path)
	if err != nil {
		b.Problem = err.Error()
	}
	if verified.Warning != nil {
		b.Warning = verified.Warning.Error()
	}
	if verified.Signed != nil {
		b.Signed, b.Comment = true, *verified.Signed
	}
}

func showBinaries(w io.Writer, found []pluginBinary, output *format.Output,
	print func(io.Writer, []pluginBinary, *format.Output) error) error {
	var err error
	switch {
	case output.Machine():
		all := document.Binaries{Head: document.NewHead(), Plugins: []document.Binary{}}
		for _, b := range found {
			all.Plugins = append(all.Plugins, b.Binary)
		}
		err = output.Document(w, all)
	case output.Names():
		var names []string
		for _, b := range found {
			names = append(names, b.Name)
		}
		err = output.PrintNames(w, names)
	default:
		err = print(w, found, output)
	}
	problems := 0
	for _, b := range found {
		if b.Problem != "" {
			problems++
		}
	}
	if problems > 0 {
		err = errors.Join(err, exit.With(exit.Failed, fmt.Errorf("%s cannot be used", line.Count(problems, "plugin")),
			"the reasons and next steps are above"))
	}
	return err
}

func binariesTable(w io.Writer, found []pluginBinary, output *format.Output) error {
	var body [][]string
	for _, b := range found {
		body = append(body, []string{b.Name, b.State, shortDigest(b.SHA256), yes(b.Pinned), b.signature(), b.URL,
			cmp.Or(b.Problem, b.Warning)})
	}
	return output.Table(w, format.Table{Columns: []format.Column{
		{Head: "NAME", Yield: 1, Least: 12}, {Head: "STATE", State: true}, {Head: "SHA256", Drop: 3},
		{Head: "PINNED", Drop: 4}, {Head: "SIGNATURE", Drop: 2}, {Head: "URL", Yield: 2, Least: 12, Drop: 5},
		{Head: "DETAIL", Text: true},
	}, Rows: body})
}

// signature prints the policy before a check, and the outcome after it.
func (b *pluginBinary) signature() string {
	if b.Signed {
		return "right"
	}
	return b.Policy
}

func shortDigest(digest string) string { return digest[:min(len(digest), 12)] }

func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}
