// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// stageClient is the StageClient of a stage that piped executes.
type stageClient struct {
	*pipedClient
	deploymentID string
	stageID      string
	run          stageRun
	// watches are the goroutines behind Commands; the stage waits for them at its end.
	watches sync.WaitGroup
	reports *reports
}

var _ StageClient = (*stageClient)(nil)

func newStageClient(client *pipedClient, deploymentID string, stage *model.PipelineStage, logger *slog.Logger,
) *stageClient {
	c := &stageClient{pipedClient: client, deploymentID: deploymentID, stageID: stage.GetId(),
		run: stageRun{number: runOf(stage)}}
	c.reports = newReports(func(ctx context.Context, values map[string]string) error {
		return c.PutMetadata(ctx, OfStage, values)
	}, logger)
	return c
}

// foundValue is the part that the answers to the questions for metadata share.
type foundValue interface {
	GetValue() string
	GetFound() bool
}

func (c *stageClient) Metadata(ctx context.Context, scope MetadataScope, key string) (value string, found bool,
	err error) {
	if scope == OfStage {
		if has, err := c.run.has(ctx, c.stageValue, key); err != nil || !has {
			return "", false, err
		}
	}
	return c.value(ctx, scope, key)
}

// stageValue reads a value of the stage, of whatever run.
func (c *stageClient) stageValue(ctx context.Context, key string) (value string, found bool, err error) {
	return c.value(ctx, OfStage, key)
}

func (c *stageClient) value(ctx context.Context, scope MetadataScope, key string) (value string, found bool,
	err error) {
	var resp foundValue
	switch scope {
	case OfStage:
		resp, err = c.piped.GetStageMetadata(ctx, &pluginservice.GetStageMetadataRequest{
			DeploymentId: c.deploymentID, StageId: c.stageID, Key: key,
		})
	case OfDeployment:
		resp, err = c.piped.GetDeploymentPluginMetadata(ctx, &pluginservice.GetDeploymentPluginMetadataRequest{
			DeploymentId: c.deploymentID, PluginName: c.name, Key: key,
		})
	case Shared:
		resp, err = c.piped.GetDeploymentSharedMetadata(ctx, &pluginservice.GetDeploymentSharedMetadataRequest{
			DeploymentId: c.deploymentID, Key: key,
		})
	default:
		err = errors.New("there is no such scope")
	}
	if err != nil {
		return "", false, fmt.Errorf("get %s metadata %s: %w", scope, key, err)
	}
	return resp.GetValue(), resp.GetFound(), nil
}

func (c *stageClient) PutMetadata(ctx context.Context, scope MetadataScope, values map[string]string) error {
	if len(values) == 0 {
		return nil
	}
	if scope != OfStage {
		return c.putValues(ctx, scope, values)
	}
	return c.run.put(ctx, c.stageValue, values, func(values map[string]string) error {
		return c.putValues(ctx, OfStage, values)
	})
}

func (c *stageClient) putValues(ctx context.Context, scope MetadataScope, values map[string]string) error {
	keys := slices.Sorted(maps.Keys(values))
	var err error
	switch {
	case scope == OfStage && len(keys) == 1:
		_, err = c.piped.PutStageMetadata(ctx, &pluginservice.PutStageMetadataRequest{
			DeploymentId: c.deploymentID, StageId: c.stageID, Key: keys[0], Value: values[keys[0]],
		})
	case scope == OfStage:
		_, err = c.piped.PutStageMetadataMulti(ctx, &pluginservice.PutStageMetadataMultiRequest{
			DeploymentId: c.deploymentID, StageId: c.stageID, Metadata: values,
		})
	case scope == OfDeployment && len(keys) == 1:
		_, err = c.piped.PutDeploymentPluginMetadata(ctx, &pluginservice.PutDeploymentPluginMetadataRequest{
			DeploymentId: c.deploymentID, PluginName: c.name, Key: keys[0], Value: values[keys[0]],
		})
	case scope == OfDeployment:
		_, err = c.piped.PutDeploymentPluginMetadataMulti(ctx, &pluginservice.PutDeploymentPluginMetadataMultiRequest{
			DeploymentId: c.deploymentID, PluginName: c.name, Metadata: values,
		})
	case scope == Shared:
		err = errors.New("only piped writes it")
	default:
		err = errors.New("there is no such scope")
	}
	if err != nil {
		return fmt.Errorf("put %s metadata %s: %w", scope, strings.Join(keys, ", "), err)
	}
	return nil
}

func (c *stageClient) Display(ctx context.Context, text string) error {
	c.reports.own()
	return c.PutMetadata(ctx, OfStage, map[string]string{DisplayMetadataKey: text})
}

func (c *stageClient) Progress(p Progress) {
	p.Text = clip(p.Text)
	c.reports.put(ProgressMetadataKey, p, p.String())
}

func (c *stageClient) TargetResults(results []TargetResult) {
	shown := make([]TargetResult, 0, min(len(results), maxReportedTargets))
	for _, result := range results[:min(len(results), maxReportedTargets)] {
		result.Detail = clip(result.Detail)
		shown = append(shown, result)
	}
	c.reports.put(TargetsMetadataKey, shown, "")
}
