// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/pipedeck/pipedeck/piped/config"
)

// uses is trigger.Options.Uses: the plugins that the configuration names, and the owners of its stages. It does not
// wait for plugins that start. Nothing is known of an application that names neither.
func (a *Agent) uses(application *config.Application) (plugins []string, known bool) {
	ended, end := context.WithCancel(context.Background())
	end()
	names := maps.Clone(application.Plugins)
	if names == nil {
		names = map[string]json.RawMessage{}
	}
	if application.Pipeline != nil {
		for _, stage := range application.Pipeline.Stages {
			owner, err := a.plugins.Owner(ended, stage.Name)
			switch {
			case err == nil:
				names[owner.Name()] = nil
			case errors.Is(err, context.Canceled):
				return nil, false
			}
		}
	}
	return slices.Sorted(maps.Keys(names)), len(names) > 0
}
