// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// Sources are the directories that a stage inspects.
type Sources int

const (
	// AllSources are those of the target and of the running commit.
	AllSources Sources = iota
	// TargetSource is the directory of the target commit alone.
	TargetSource
	// NoSources is for stages that only look at commits and configurations.
	NoSources
)

// SourceUser is an optional part of any plugin. Directories that a stage does not read are not created for it,
// which spares much where many applications are deployed together; Source.Dir is empty then. A piped that
// does not ask (PipeCD v1) makes all of them.
type SourceUser interface {
	Sources(stage string) Sources
}

// OnceOnly is an optional part of any plugin. A stage that runs while its plugin, or piped, ends is executed again,
// as the next attempt (PipeCD v1 asks plugins to tolerate that); one for which Once is true fails instead, with that
// reason. It is for work that nothing can show to have been done already. A piped that does not ask (PipeCD v1)
// executes it again.
type OnceOnly interface {
	Once(stage string) bool
}

// Remover is an optional part of a plugin that deploys. The stage deletes what an application has deployed, when the
// application is removed. It is one of the plugin's Stages, is executed in a separate deployment with the target
// source of the last deployment, and may be executed again. Its running source is the repository at the head of the
// branch as the stage begins: the application need not be there, and its configuration is empty. What another
// application has in Git there is to be kept. It is nil when piped has none. A pipeline must not have the stage.
type Remover interface {
	RemovalStage() string
}

// ClusterCaller is an optional part of a plugin whose stages call the API of a cluster. One that returns true has the
// faults happen that piped gives with a stage: those of message ClusterFaults, in the gRPC metadata of the context of
// ExecuteStage.
type ClusterCaller interface {
	TakesClusterFaults() bool
}

// sourceUseService reports it to piped.
type sourceUseService struct {
	deployment.UnimplementedSourceUseServiceServer
	handlers *handlers
}

func (s *sourceUseService) GetSourceUse(context.Context,
	*deployment.GetSourceUseRequest) (*deployment.GetSourceUseResponse, error) {
	answer := &deployment.GetSourceUseResponse{Stages: map[string]deployment.SourceUse{},
		ClusterFaults: s.handlers.clusterFaults}
	if s.handlers.removal != nil {
		answer.Removal = s.handlers.removal()
	}
	if !s.handlers.plans {
		answer.Planning = deployment.SourceUse_SOURCE_USE_NONE
	}
	for _, stage := range s.handlers.stages() {
		if s.handlers.once != nil && s.handlers.once(stage) {
			answer.Once = append(answer.Once, stage)
		}
		switch s.handlers.sources(stage) {
		case TargetSource:
			answer.Stages[stage] = deployment.SourceUse_SOURCE_USE_TARGET
		case NoSources:
			answer.Stages[stage] = deployment.SourceUse_SOURCE_USE_NONE
		}
	}
	return answer, nil
}
