// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// recordRunning writes what the piped of the running environment remembers of a plugin.
func (f *recordFlags) recordRunning(cmd *cobra.Command, t *session.Target, args []string) error {
	return t.Run(cmd, func(ctx context.Context, s *session.Session) error {
		plugin, err := resolve.New(s, cmd, args).Argument(0).Plugin("")
		if err != nil {
			return err
		}
		calls, err := read(ctx, s, &deckv1.ListPluginCallsRequest{Messages: true,
			Filter: &deckv1.PluginCallFilter{Plugin: plugin.GetName()}})
		if err != nil {
			return err
		}
		calls = slices.DeleteFunc(calls, func(c *deckv1.PluginCall) bool {
			// A re-run begins without metadata: a replay of it after its deployment would differ.
			return c.GetPipedId() != plugin.GetPipedId() || c.GetRerun()
		})
		if len(calls) == 0 {
			return exit.Usage(fmt.Errorf("piped remembers no call of plugin %q", plugin.GetName()),
				"deploy something that uses it")
		}
		w, err := t.Workspace()
		if err != nil {
			return err
		}
		if err := writeRecording(f.file, w.PipedConfig(), plugin.GetName(), calls); err != nil {
			return err
		}
		fmt.Fprintf(s.Err, "recorded in %s; play it with: pipedeck plugin replay %s PROGRAM\n", f.file, f.file)
		return nil
	})
}

// recordedSettings are those of a plugin in a piped configuration, with secrets masked; nil where the configuration
// does not have the plugin.
func recordedSettings(pipedConfig, plugin string) (json.RawMessage, error) {
	piped, err := config.LoadPiped(pipedConfig)
	if err != nil {
		return nil, nil //nolint:nilerr // that of another piped is not on this machine
	}
	i := slices.IndexFunc(piped.Plugins, func(p config.Plugin) bool { return p.Name == plugin })
	if i < 0 {
		return nil, nil
	}
	settings := sdk.Settings{Name: plugin, URL: piped.Plugins[i].URL, Config: piped.Plugins[i].Config}
	for _, target := range piped.Plugins[i].DeployTargets {
		settings.DeployTargets = append(settings.DeployTargets,
			sdk.DeployTargetConfig{Name: target.Name, Labels: target.Labels, Config: target.Config})
	}
	return newRecordMask(pipedConfig).settle(settings)
}
