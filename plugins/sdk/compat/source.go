// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// DeploymentSource is the application as it is at one commit.
type DeploymentSource[Spec any] struct {
	ApplicationDirectory string
	CommitHash           string
	// ApplicationConfig is nil in an empty source.
	ApplicationConfig         *ApplicationConfig[Spec]
	ApplicationConfigFilename string
	SharedConfigDirectory     string
}

// AppConfig returns the configuration of the application; an empty source has none, which is an error.
func (d *DeploymentSource[Spec]) AppConfig() (*ApplicationConfig[Spec], error) {
	if d.ApplicationConfig == nil {
		return nil, errors.New("there is no application configuration: no deployment was successful yet")
	}
	return d.ApplicationConfig, nil
}

// ApplicationConfig is what the plugin sees of the application configuration.
type ApplicationConfig[Spec any] struct {
	// Spec is spec.plugins.<plugin name>; never nil.
	Spec *Spec

	stages []sdk.StageConfig
}

// HasStage is whether the configured pipeline has a stage with this name.
func (c *ApplicationConfig[Spec]) HasStage(name string) bool {
	for _, stage := range c.stages {
		if stage.Name == name {
			return true
		}
	}
	return false
}

// sourceOf decodes the part of the named plugin; nil is an empty source.
func sourceOf[Spec any](source *sdk.Source[sdk.None], plugin string) (DeploymentSource[Spec], error) {
	if source == nil {
		return DeploymentSource[Spec]{}, nil
	}
	config := &ApplicationConfig[Spec]{Spec: new(Spec)}
	var err error
	if config.stages, err = source.Pipeline(); err != nil {
		return DeploymentSource[Spec]{}, err
	}
	var document struct {
		Spec struct {
			Plugins map[string]any `yaml:"plugins"`
		} `yaml:"spec"`
	}
	if err := yaml.Unmarshal(source.ConfigData, &document); err != nil {
		return DeploymentSource[Spec]{}, fmt.Errorf("read %s at commit %s: %w", source.ConfigFilename,
			source.CommitHash, err)
	}
	if part := document.Spec.Plugins[plugin]; part != nil {
		data, err := json.Marshal(part)
		if err == nil {
			err = json.Unmarshal(data, config.Spec)
		}
		if err != nil {
			return DeploymentSource[Spec]{}, fmt.Errorf("%s at commit %s: spec.plugins.%s is not valid: %w",
				source.ConfigFilename, source.CommitHash, plugin, err)
		}
	}
	return DeploymentSource[Spec]{
		ApplicationDirectory: source.Dir, CommitHash: source.CommitHash, ApplicationConfig: config,
		ApplicationConfigFilename: source.ConfigFilename, SharedConfigDirectory: source.SharedConfigDir,
	}, nil
}
