// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"

	"github.com/goccy/go-yaml"
)

// PipelineStage is a stage as the application's configuration has it.
type PipelineStage struct {
	Name string
	// With is JSON; empty when absent.
	With json.RawMessage
}

// PipelineStages reads the pipeline of an application configuration (YAML); empty when it has none.
func PipelineStages(data []byte) ([]PipelineStage, error) {
	var document struct {
		Spec struct {
			Pipeline struct {
				Stages []struct {
					Name string `yaml:"name"`
					With any    `yaml:"with"`
				} `yaml:"stages"`
			} `yaml:"pipeline"`
		} `yaml:"spec"`
	}
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, err
	}
	var stages []PipelineStage
	for _, s := range document.Spec.Pipeline.Stages {
		stage := PipelineStage{Name: s.Name}
		if s.With != nil {
			with, err := json.Marshal(s.With)
			if err != nil {
				return nil, err
			}
			stage.With = with
		}
		stages = append(stages, stage)
	}
	return stages, nil
}

// AlwaysUsesPipeline reads spec.planner.alwaysUsePipeline of an application configuration (YAML).
func AlwaysUsesPipeline(data []byte) (bool, error) {
	var document struct {
		Spec struct {
			Planner struct {
				AlwaysUsePipeline bool `yaml:"alwaysUsePipeline"`
			} `yaml:"planner"`
		} `yaml:"spec"`
	}
	err := yaml.Unmarshal(data, &document)
	return document.Spec.Planner.AlwaysUsePipeline, err
}
