// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"fmt"
	"os"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config/options"
	"github.com/pipedeck/pipedeck/tui/text"
)

// checker checks the applications of an environment against the schemas of its plugins.
func (f *Flags) checker(ctx context.Context, w *workspace.Workspace) (*options.Checker, error) {
	_, programs, err := f.programs(w)
	if err != nil {
		return nil, err
	}
	known, err := pluginflag.Known()
	if err != nil {
		return nil, err
	}
	given, err := pluginflag.Given(ctx, f.plugins, os.Stderr, func(plugin workspace.Plugin) func() {
		what := fmt.Sprintf("building plugin %s in %s", plugin.Name, plugin.Source)
		fmt.Fprintln(os.Stderr, text.Clean(what)+", to check the applications against its options")
		return workspace.Prepare(w, what)
	})
	if err != nil {
		return nil, err
	}
	c := &options.Checker{Catalogue: known, Plugins: []options.Plugin{}, Where: "the plugins of this environment"}
	// Chains may deploy applications of other repositories, too.
	c.Complete = f.own == nil || len(f.own.Piped.Repositories) == 0
	known = pluginflag.Replace(known, given)
	for _, plugin := range programs {
		c.Plugins = append(c.Plugins, pluginflag.WithSchema(known, plugin.Name, plugin.Stages))
	}
	return c, nil
}
