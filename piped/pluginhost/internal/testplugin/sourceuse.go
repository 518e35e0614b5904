// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// sourceSettings are those that the plugin reports of its stages.
type sourceSettings struct {
	// Once are stages that must not be executed twice.
	Once []string `json:"once"`
	// NoSources is a file; while it is there at the plugin's start, its stages read no directory.
	NoSources string `json:"noSources"`
	// ClusterFaults says that its stages have faults happen in calls to a cluster.
	ClusterFaults bool `json:"clusterFaults"`
}

// reports says whether it reports anything.
func (s sourceSettings) reports() bool { return s.Once != nil || s.NoSources != "" || s.ClusterFaults }

// sourceUse reports what the stages read, as it was decided at the start.
type sourceUse struct {
	deployment.UnimplementedSourceUseServiceServer
	answer *deployment.GetSourceUseResponse
}

func newSourceUse(s settings) *sourceUse {
	u := &sourceUse{answer: &deployment.GetSourceUseResponse{
		Once: s.Once, Stages: map[string]deployment.SourceUse{}, ClusterFaults: s.ClusterFaults,
	}}
	if _, err := os.Stat(s.NoSources); err == nil {
		for _, stage := range s.Stages {
			u.answer.Stages[stage] = deployment.SourceUse_SOURCE_USE_NONE
		}
	}
	return u
}

func (u *sourceUse) GetSourceUse(
	context.Context, *deployment.GetSourceUseRequest,
) (*deployment.GetSourceUseResponse, error) {
	return u.answer, nil
}
