// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/goccy/go-yaml"
)

// PipelineStage is a stage as the application's configuration has it.
type PipelineStage struct {
	// Name of a stage for many clusters is that of the one for a single cluster which does the same.
	Name string
	// Index is the position in the whole pipeline, from 0.
	Index int
	// With is JSON; empty when absent.
	With json.RawMessage
	// Timeout is 0 when the stage has none.
	Timeout time.Duration
}

// PipelineStages reads the pipeline of an application configuration (YAML); empty when it has none. At a deploy target
// (AtTarget) only the stages are given that this plugin runs there.
func (a *Application) PipelineStages(data []byte) ([]PipelineStage, error) {
	stages, err := pipelineStages(data)
	if err != nil || a.target == "" {
		return stages, err
	}
	var here []PipelineStage
	for _, s := range stages {
		name, many := SingleName(s.Name)
		if !many {
			continue
		}
		o, err := DecodeMulti(s.Name, s.With)
		if err != nil {
			return nil, fmt.Errorf("stage %d of the pipeline: %w", s.Index+1, err)
		}
		if len(o.MultiTargets) == 0 || slices.Contains(o.MultiTargets, a.target) {
			s.Name = name
			here = append(here, s)
		}
	}
	return here, nil
}

func pipelineStages(data []byte) ([]PipelineStage, error) {
	var document struct {
		Spec struct {
			Pipeline struct {
				Stages []struct {
					Name    string `yaml:"name"`
					With    any    `yaml:"with"`
					Timeout string `yaml:"timeout"`
				} `yaml:"stages"`
			} `yaml:"pipeline"`
		} `yaml:"spec"`
	}
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, err
	}
	var stages []PipelineStage
	for i, s := range document.Spec.Pipeline.Stages {
		stage := PipelineStage{Name: s.Name, Index: i}
		stage.Timeout, _ = time.ParseDuration(s.Timeout) // piped refuses what is none
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
