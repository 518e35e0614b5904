// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginflag

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/inputfile"
)

// ConfigName is the file with the configuration of a plugin that is given as a directory.
const ConfigName = config.KindPluginFile

// Config is what a user configures of a plugin, with the keys that it has in the piped configuration.
type Config struct {
	Config        map[string]any
	DeployTargets []config.DeployTarget
	Stages        []string
	Limits        *config.PluginLimits
}

// ReadConfig decodes a file.
func ReadConfig(path string) (Config, error) {
	var c Config
	const hint = "write the keys that the plugin has in the piped configuration: config and deployTargets, stages " +
		"and limits"
	file, err := inputfile.Open(path)
	if err != nil {
		return c, exit.Usage(fmt.Errorf("read the configuration of a plugin: %w", err), "give an existing file")
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, config.MaxSize+1))
	if err != nil {
		return c, exit.Usage(fmt.Errorf("read the configuration of a plugin: %w", err), "give a YAML file")
	}
	read, err := config.ParsePluginFile(data, path)
	if err != nil {
		return c, exit.Usage(err, hint)
	}
	if read.Config != nil {
		if err := json.Unmarshal(read.Config, &c.Config); err != nil {
			return c, exit.Usage(fmt.Errorf("%s: config: %w", path, err), hint)
		}
	}
	c.DeployTargets, c.Stages, c.Limits = read.DeployTargets, read.Stages, read.Limits
	return c, nil
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
