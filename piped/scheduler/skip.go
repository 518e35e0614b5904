// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"fmt"
	"strings"

	"github.com/moby/patternmatcher"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
)

// skips decides by skipOn (PipeCD v1): a stage is skipped when the commit message starts with one of
// the prefixes, or when every changed file matches the paths. A first deployment has no changed files to
// judge by and skips nothing by paths; there PipeCD panics.
func (e *executor) skips(
	ctx context.Context, stage *model.PipelineStage, application *config.Application,
) (reason string, skip bool) {
	pipeline := application.Pipeline
	index := int(stage.GetIndex())
	if e.progress.deployment.GetTrigger().GetSyncStrategy() != model.SyncStrategy_PIPELINE || pipeline == nil ||
		index < 0 ||
		index >= len(pipeline.Stages) {
		return "", false
	}
	rule := pipeline.Stages[index].SkipOn
	commit := e.progress.deployment.GetTrigger().GetCommit()
	for _, prefix := range rule.CommitMessagePrefixes {
		if strings.HasPrefix(commit.GetMessage(), prefix) {
			return fmt.Sprintf("Skipped because the commit message starts with %q", prefix), true
		}
	}
	from := e.progress.deployment.GetRunningCommitHash()
	if len(rule.Paths) == 0 || from == "" {
		return "", false
	}
	files, err := e.options.Sources.ChangedFiles(ctx, e.progress.deployment, from, commit.GetHash())
	if err != nil {
		e.reports.of(stage).Warn("skipOn.paths cannot be judged, the stage is run", "error", err)
		return "", false
	}
	match, err := matchesAll(rule.Paths, files)
	if err != nil {
		e.reports.of(stage).Warn("skipOn.paths cannot be read, the stage is run", "error", err)
	}
	if !match {
		return "", false
	}
	return "Skipped because all changed files match skipOn.paths", true
}

func matchesAll(patterns, files []string) (bool, error) {
	matcher, err := patternmatcher.New(patterns)
	if err != nil {
		return false, err
	}
	for _, file := range files {
		match, err := matcher.MatchesOrParentMatches(file)
		if err != nil || !match {
			return false, err
		}
	}
	return len(files) > 0, nil
}
