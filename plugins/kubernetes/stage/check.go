// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// CheckPlan refuses a deployment whose pipeline is certain to fail, in the words and with the code that end a plan. A
// deployment for which a user asked for a quick sync passes, since it does not use the pipeline.
func CheckPlan(d *sdk.Deployment, s *Source) error {
	if d.Trigger.Sync == sdk.QuickSync {
		return nil
	}
	if err := CheckPipeline(s); err != nil {
		return status.Error(codes.FailedPrecondition, err.Error())
	}
	return nil
}

// CheckPipeline reports what is certain to fail in the pipeline of a source.
func CheckPipeline(s *Source) error {
	stages, err := s.App.PipelineStages(s.ConfigData)
	if err != nil {
		return fmt.Errorf("read the pipeline of %s at commit %s: %w", s.ConfigFilename, short(s.CommitHash), err)
	}
	return s.App.CheckPipeline(stages)
}

// checkRoutes reports whether the traffic stages of a source can find what they route by, so that a canary is not
// rolled out in vain.
func checkRoutes(manifests []manifest.Manifest, s *Source) error {
	stages, err := s.App.PipelineStages(s.ConfigData)
	if err != nil {
		return fmt.Errorf("read the pipeline of %s at commit %s: %w", s.ConfigFilename, short(s.CommitHash), err)
	}
	for _, stage := range stages {
		if stage.Name != config.StageTrafficRouting {
			continue
		}
		traffic, err := config.DecodeTraffic(stage.With)
		if err == nil {
			_, err = routeObject(manifests, s, traffic)
		}
		if err != nil {
			return fmt.Errorf("stage %d of the pipeline, %s, could not work: %w", stage.Index+1, stage.Name, err)
		}
	}
	return nil
}
