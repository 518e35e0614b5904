// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// sourceUse reports what the stages read, as it was decided at the start.
type sourceUse struct {
	deployment.UnimplementedSourceUseServiceServer
	answer *deployment.GetSourceUseResponse
}

func newSourceUse(s settings) *sourceUse {
	u := &sourceUse{answer: &deployment.GetSourceUseResponse{Once: s.Once, Stages: map[string]deployment.SourceUse{}}}
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
