// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"encoding/json"
	"fmt"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
)

// configArgument is the plugin's entry of the piped configuration as one JSON object, as PipeCD v1 passes
// it: empty parts are left out, a deploy target without configuration has null.
func configArgument(c config.Plugin, port int) (string, error) {
	type target struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels,omitempty"`
		Config json.RawMessage   `json:"config"`
	}
	argument := struct {
		Name          string          `json:"name"`
		URL           string          `json:"url"`
		Port          int             `json:"port"`
		Config        json.RawMessage `json:"config,omitempty"`
		DeployTargets []target        `json:"deployTargets,omitempty"`
	}{Name: c.Name, URL: c.URL, Port: port, Config: c.Config}
	if fetch.Remote(c.URL) {
		argument.URL = fetch.Redact(c.URL) // a plugin has no use for it, and every user can read its command line
	}
	for _, t := range c.DeployTargets {
		argument.DeployTargets = append(
			argument.DeployTargets, target{Name: t.Name, Labels: t.Labels, Config: t.Config},
		)
	}
	data, err := json.Marshal(argument)
	if err != nil {
		return "", fmt.Errorf("encode the configuration of plugin %q: %w", c.Name, err)
	}
	return string(data), nil
}
