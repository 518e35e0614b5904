// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
	"github.com/pipedeck/pipedeck/piped/workdir"
	"github.com/pipedeck/pipedeck/system/plainerror"
)

// pluginFlags say which piped the plugins are for.
type pluginFlags struct{ configFile, workDir, output, index string }

// pluginBinary is what is known of the binary of a plugin, and its JSON.
type pluginBinary struct {
	Name string `json:"name"`
	// URL is without secrets. For a plugin of an index it is where that leads.
	URL string `json:"url"`
	// Reference is the name in the index, Version what it means now; empty for a plugin that needs no index.
	Reference string `json:"reference,omitempty"`
	Version   string `json:"version,omitempty"`
	// State is local, missing, fetched (before), downloaded, unchanged or stale (its server does not answer).
	State  string `json:"state"`
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	// Pinned is set when the configuration holds the digest, or the url does.
	Pinned bool `json:"pinned"`
	// Policy is that of the signature; empty without one.
	Policy string `json:"policy"`
	// SignedBy is the wanted key, SignatureURL where the signature is.
	SignedBy     string `json:"signedBy"`
	SignatureURL string `json:"signatureURL"`
	// Signed is set when the signature was checked and is right; Comment is what the signer says.
	Signed  bool   `json:"signed"`
	Comment string `json:"comment"`
	// Warning is something that does not keep the plugin from starting, Problem what does.
	Warning string `json:"warning"`
	Problem string `json:"problem"`
}

// binaryFinder looks at the binary of a plugin whose url leads to it.
type binaryFinder func(context.Context, *fetch.Fetcher, config.Plugin) pluginBinary

// binaryCommand is a command on the binaries of plugins: of all plugins of a piped configuration, or of the named ones.
type binaryCommand struct {
	use, short, long, example string
	// asks has names looked up in the index as its server has it now, otherwise as it was fetched before.
	asks  bool
	find  binaryFinder
	print func(io.Writer, []pluginBinary) error
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
	format.AddFlag(cmd, &flags.output)
	return cmd
}

func (b binaryCommand) run(cmd *cobra.Command, flags *pluginFlags, names []string) error {
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
	return showBinaries(cmd.OutOrStdout(), found, flags.output == "json", b.print)
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
		at := slices.IndexFunc(piped.Plugins, func(p config.Plugin) bool { return p.Name == name })
		if at < 0 {
			return nil, exit.Usage(fmt.Errorf("no plugin of %s is named %q", f.configFile, name),
				"see them with: pipedeck plugin list --config-file "+f.configFile)
		}
		chosen = append(chosen, piped.Plugins[at])
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
	b := pluginBinary{Name: plugin.Name, URL: fetch.Redact(plugin.URL), State: "missing", SHA256: "",
		Pinned: plugin.SHA256 != "" || fetch.Pinned(plugin.URL)}
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

func showBinaries(w io.Writer, found []pluginBinary, asJSON bool, print func(io.Writer, []pluginBinary) error) error {
	var err error
	if asJSON {
		err = json.NewEncoder(w).Encode(map[string]any{"plugins": found})
	} else {
		err = print(w, found)
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

func binariesTable(w io.Writer, found []pluginBinary) error {
	var body [][]string
	for _, b := range found {
		body = append(body, []string{b.Name, b.State, shortDigest(b.SHA256), yes(b.Pinned), b.signature(), b.URL,
			cmp.Or(b.Problem, b.Warning)})
	}
	return format.Table(w, []string{"NAME", "STATE", "SHA256", "PINNED", "SIGNATURE", "URL", "DETAIL"}, body)
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
