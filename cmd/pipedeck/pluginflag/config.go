// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginflag

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

const (
	// ConfigName is the file with the configuration of a plugin that is given as the directory of a Go package.
	ConfigName = "piped-plugin.yaml"
	// maxConfig bounds such a file in bytes.
	maxConfig = 1 << 20
)

// blankYAML matches a file without values: blank lines, comments and marks of a document.
var blankYAML = regexp.MustCompile(`^\x{feff}?(?:(?:[ \t]*(?:#.*)?|---)\r?\n)*(?:[ \t]*(?:#.*)?|---)$`)

// Config is what a user configures of a plugin, with the keys that it has in the piped configuration.
type Config struct {
	Config        map[string]any        `json:"config,omitempty"`
	DeployTargets []config.DeployTarget `json:"deployTargets,omitempty"`
	Stages        []string              `json:"stages,omitempty"`
	Limits        *config.PluginLimits  `json:"limits,omitempty"`
}

// ReadConfig decodes a file.
func ReadConfig(path string) (Config, error) {
	var c Config
	const hint = "write the keys that the plugin has in the piped configuration: config and deployTargets, stages " +
		"and limits"
	file, err := os.Open(path)
	if err != nil {
		return c, exit.Usage(fmt.Errorf("read the configuration of a plugin: %w", err), "give an existing file")
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxConfig+1))
	if err != nil {
		return c, exit.Usage(fmt.Errorf("read the configuration of a plugin: %w", err), "give a YAML file")
	}
	if len(data) > maxConfig {
		return c, exit.Usage(fmt.Errorf("%s is larger than %d bytes", path, maxConfig), hint)
	}
	if blankYAML.Match(data) {
		return c, nil
	}
	text, err := config.JSON(data, path) // as piped reads it
	if err != nil {
		return c, exit.Usage(err, hint)
	}
	if err := DecodeConfig(text, &c); err != nil {
		return c, exit.Usage(fmt.Errorf("%s: %w", path, err), hint)
	}
	return c, nil
}

// DecodeConfig decodes a configuration; unknown keys are errors.
func DecodeConfig(text json.RawMessage, c *Config) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(c); err != nil {
		return err
	}
	for i, target := range c.DeployTargets {
		if target.Name == "" {
			return fmt.Errorf("deployTargets[%d] has no name", i)
		}
	}
	if c.Limits != nil {
		if _, err := c.Limits.MemoryBytes(); err != nil {
			return fmt.Errorf("limits.memory: %w", err)
		}
	}
	return nil
}

// Settings returns the configuration as the plugin gets it.
func (c *Config) Settings(name, url string) (sdk.Settings, error) {
	settings := sdk.Settings{Name: name, URL: url}
	if c.Config != nil {
		data, err := json.Marshal(c.Config)
		if err != nil {
			return settings, err
		}
		settings.Config = data
	}
	for _, target := range c.DeployTargets {
		raw, err := json.Marshal(target.Config)
		if err != nil {
			return settings, err
		}
		settings.DeployTargets = append(settings.DeployTargets,
			sdk.DeployTargetConfig{Name: target.Name, Labels: target.Labels, Config: raw})
	}
	return settings, nil
}

// IsFile reports whether there is a regular file: a directory or a pipe is not read.
func IsFile(path string) (bool, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	return info.Mode().IsRegular(), nil
}
