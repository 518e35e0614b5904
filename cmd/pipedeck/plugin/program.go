// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// programFlags name a plugin that a command runs by itself, without piped.
type programFlags struct {
	name, configFile string
	output           format.Output
}

func (f *programFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.name, "plugin-name", "",
		"the plugin's name in the piped configuration (default: that of its file or directory)")
	cmd.Flags().StringVar(&f.configFile, "config", "",
		"`FILE` with the plugin's config and deployTargets as in the piped configuration (default: "+
			pluginflag.ConfigName+" in the directory of the plugin)")
}

// runnable is a program of a plugin and how it is configured.
type runnable struct {
	path     string
	settings sdk.Settings
	// scratch is an empty directory for what the command needs.
	scratch string
	// remove deletes scratch and what was built.
	remove func() error
}

// open finds the program, or builds it from its directory.
func (f *programFlags) open(ctx context.Context, place string) (*runnable, error) {
	place, err := filepath.Abs(place)
	if err != nil {
		return nil, exit.Usage(err, "give the program of a plugin or the directory of its sources")
	}
	info, err := os.Stat(place)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("look for the plugin: %w", err),
			"give the program of a plugin or the directory of its sources")
	}
	var configured pluginflag.Config
	file := f.configFile
	if adjacent := filepath.Join(place, pluginflag.ConfigName); file == "" && info.IsDir() {
		there, err := pluginflag.IsFile(adjacent)
		if err != nil {
			return nil, exit.Usage(err, "make the file readable")
		}
		if there {
			file = adjacent
		}
	}
	if file != "" {
		if configured, err = pluginflag.ReadConfig(file); err != nil {
			return nil, err
		}
	}
	name := f.name
	if name == "" {
		name = filepath.Base(place)
	}
	r := &runnable{path: place}
	if r.settings, err = settingsOf(configured, name, "file://"+place); err != nil {
		return nil, err
	}
	if !info.IsDir() {
		if err := pluginflag.CheckProgram("plugin "+name, place, "give the program of a plugin"); err != nil {
			return nil, err
		}
	}
	own, err := os.MkdirTemp("", "pipedeck-plugin-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for the plugin: %w", err)
	}
	r.remove = func() error { return os.RemoveAll(own) }
	r.scratch = filepath.Join(own, "scratch")
	if err := os.Mkdir(r.scratch, 0o700); err != nil {
		return nil, errors.Join(fmt.Errorf("make a directory for the plugin: %w", err), r.remove())
	}
	if info.IsDir() {
		r.path = filepath.Join(own, "plugin")
		if err := pluginflag.Build(ctx, place, r.path); err != nil {
			return nil, errors.Join(err, r.remove())
		}
	}
	return r, nil
}

// notRun returns why a plugin could not be run to the end of its requests.
func notRun(ctx context.Context, mask *configMask, err error) error {
	if ctx.Err() != nil {
		return exit.Silent(exit.Interrupted)
	}
	return exit.With(exit.Failed, errors.New(mask.text(err.Error())),
		"run it again with --verbose to see what the plugin prints")
}

// settingsOf returns the configuration as the plugin gets it.
func settingsOf(c pluginflag.Config, name, url string) (sdk.Settings, error) {
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
