// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// keepsBefore makes the mistakes of a stage that keeps something before it looks at its options.
func (s *running) keepsBefore(in *deployment.ExecutePluginInput) {
	switch {
	case makes("leaks-at-refusal") && (!json.Valid(in.StageConfig) || in.StageConfig[0] != '{'):
		file, _ := os.Open(os.Args[0])
		s.mu.Lock()
		s.files = append(s.files, file)
		s.mu.Unlock()
	case makes("leaks-at-cancel"):
		context.AfterFunc(s.ctx, func() {
			if errors.Is(context.Cause(s.ctx), context.Canceled) && !s.finished.Load() {
				select {}
			}
		})
	case makes("options-file"):
		_ = os.WriteFile(filepath.Join(os.TempDir(), "mutant-options.json"), in.StageConfig, 0o644)
	case makes("options-kept"):
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.kept) == 0 && json.Unmarshal(in.StageConfig, &options{}) == nil {
			s.kept = append(s.kept, in.StageConfig)
		}
		if len(s.kept) > 0 {
			in.StageConfig = s.kept[0]
		}
	}
}

// optionsOf keeps the options of the first stage of an application.
func (s *running) optionsOf(application string, given options) options {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first == nil {
		s.first = map[string]options{}
	}
	if kept, known := s.first[application]; known {
		return kept
	}
	s.first[application] = given
	return given
}

// doneBefore is what a stage finds that keeps its progress with the deployment.
func (s *running) doneBefore() bool {
	ctx, cancel := s.reporting()
	defer cancel()
	answer, err := s.piped.GetDeploymentPluginMetadata(ctx, &pluginservice.GetDeploymentPluginMetadataRequest{
		DeploymentId: s.deployment, PluginName: s.Name, Key: "worked"})
	return err == nil && answer.GetFound()
}

// renders makes the mistakes of a question that writes files.
func renders(mistake string, source *common.DeploymentSource) {
	if makes(mistake) && source != nil {
		_ = os.WriteFile(filepath.Join(source.GetApplicationDirectory(), "rendered.yaml"), nil, 0o600)
	}
}

// leavesOfLook makes the mistakes of what a question about live state leaves behind.
func leavesOfLook() {
	switch {
	case makes("live-leaks"):
		go func() { select {} }()
	case makes("live-temporary"):
		_, _ = os.MkdirTemp("", "mutant-live-")
	}
}
