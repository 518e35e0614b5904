// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
)

// FindTarget returns the deploy target with a name, such as one that the options of a stage give. The error names those
// that there are.
func FindTarget[Target any](targets []DeployTarget[Target], name string) (DeployTarget[Target], error) {
	names := make([]string, 0, len(targets))
	for _, target := range targets {
		if target.Name == name {
			return target, nil
		}
		names = append(names, target.Name)
	}
	if len(names) == 0 {
		return DeployTarget[Target]{}, fmt.Errorf("there is no deploy target %q, and no other one", name)
	}
	return DeployTarget[Target]{}, fmt.Errorf("there is no deploy target %q, only %s", name, strings.Join(names, ", "))
}

// TargetsWith returns the deploy targets that have all these labels, in their order; all of them for no labels.
func TargetsWith[Target any](targets []DeployTarget[Target], labels map[string]string) []DeployTarget[Target] {
	var having []DeployTarget[Target]
	for _, target := range targets {
		if target.HasLabels(labels) {
			having = append(having, target)
		}
	}
	return having
}

// HasLabels is whether the deploy target has all these labels with these values.
func (t DeployTarget[Target]) HasLabels(labels map[string]string) bool {
	for key, value := range labels {
		if has, is := t.Labels[key]; !is || has != value {
			return false
		}
	}
	return true
}

// Pipeline are the stages of the configured pipeline, those of other plugins included, with their positions and
// options; none when the application has no pipeline. Descriptions and options are as they are in Git.
func (s *Source[App]) Pipeline() ([]StageConfig, error) {
	var document struct {
		Spec struct {
			Pipeline struct {
				Stages []struct {
					Name string         `yaml:"name"`
					Desc string         `yaml:"desc"`
					With map[string]any `yaml:"with"`
				} `yaml:"stages"`
			} `yaml:"pipeline"`
		} `yaml:"spec"`
	}
	if err := yaml.Unmarshal(s.ConfigData, &document); err != nil {
		return nil, fmt.Errorf("read the pipeline of %s at commit %s: %w", s.ConfigFilename, s.CommitHash, err)
	}
	var stages []StageConfig
	for i, stage := range document.Spec.Pipeline.Stages {
		options := json.RawMessage("{}")
		if stage.With != nil {
			data, err := json.Marshal(stage.With)
			if err != nil {
				return nil, fmt.Errorf("read stage %d (%s) of %s at commit %s: %w", i, stage.Name, s.ConfigFilename,
					s.CommitHash, err)
			}
			options = data
		}
		stages = append(stages, StageConfig{Name: stage.Name, Desc: stage.Desc, Index: i, Options: options})
	}
	return stages, nil
}
