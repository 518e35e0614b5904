// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Settings is the plugin's entry in the piped configuration, as piped passes it with --config.
type Settings struct {
	Name          string               `json:"name"`
	URL           string               `json:"url"`
	Port          int                  `json:"port"`
	Config        json.RawMessage      `json:"config,omitempty"`
	DeployTargets []DeployTargetConfig `json:"deployTargets,omitempty"`
}

// DeployTargetConfig is a deploy target before its configuration is decoded.
type DeployTargetConfig struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels,omitempty"`
	Config json.RawMessage   `json:"config"`
}

// ParseSettings decodes the value of --config.
func ParseSettings(data string) (Settings, error) {
	var settings Settings
	if err := json.Unmarshal([]byte(data), &settings); err != nil {
		return Settings{}, fmt.Errorf("--config is not the JSON of a plugin entry: %w", decodeError(err))
	}
	if settings.Name == "" {
		return Settings{}, errors.New("--config has no name: piped gives the plugin's name from its configuration")
	}
	if settings.Port < 0 || settings.Port > 65535 {
		return Settings{}, fmt.Errorf("plugin %s: port %d is not between 0 and 65535", settings.Name, settings.Port)
	}
	return settings, nil
}

// decodeTargets decodes the deploy targets in their order.
func decodeTargets[Target any](settings Settings, how decoding) ([]DeployTarget[Target], error) {
	targets := make([]DeployTarget[Target], 0, len(settings.DeployTargets))
	for _, raw := range settings.DeployTargets {
		target := DeployTarget[Target]{Name: raw.Name, Labels: raw.Labels}
		if err := how.into(raw.Config, &target.Config); err != nil {
			return nil, fmt.Errorf("plugin %s: deploy target %q: config is not valid: %w", settings.Name, raw.Name, err)
		}
		targets = append(targets, target)
	}
	return targets, nil
}

// knownTargets returns the named targets that exist, in the order of their names as pickTargets does.
func knownTargets[Target any](all []DeployTarget[Target], names []string) []DeployTarget[Target] {
	var known []DeployTarget[Target]
	for _, name := range names {
		if i := slices.IndexFunc(all, func(t DeployTarget[Target]) bool { return t.Name == name }); i >= 0 {
			known = append(known, all[i])
		}
	}
	return known
}

// pickTargets returns the named targets, of which there has to be one at least (PipeCD v1: the same codes).
func pickTargets[Target any](all []DeployTarget[Target], names []string) ([]DeployTarget[Target], error) {
	if len(names) == 0 {
		return nil, status.Error(codes.InvalidArgument, "no deploy targets provided")
	}
	picked := make([]DeployTarget[Target], 0, len(names))
	for _, name := range names {
		i := slices.IndexFunc(all, func(t DeployTarget[Target]) bool { return t.Name == name })
		if i < 0 {
			return nil, status.Errorf(codes.Internal, "deploy target %q is not configured for this plugin; add it "+
				"to deployTargets in the piped configuration", name)
		}
		picked = append(picked, all[i])
	}
	return picked, nil
}
