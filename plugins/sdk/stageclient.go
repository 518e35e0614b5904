// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// StageClient reaches what piped keeps for one stage and its deployment. It is valid until ExecuteStage
// returns.
type StageClient struct {
	*Client
	deploymentID string
	stageID      string
	// watches are the goroutines behind Commands; the stage waits for them at its end.
	watches sync.WaitGroup
	reports *reports
}

func newStageClient(client *Client, deploymentID, stageID string, logger *slog.Logger) *StageClient {
	c := &StageClient{Client: client, deploymentID: deploymentID, stageID: stageID}
	c.reports = newReports(c.PutStageMetadataMulti, logger)
	return c
}

// StageMetadata reads a value that the stage put, possibly in an earlier run.
func (c *StageClient) StageMetadata(ctx context.Context, key string) (value string, found bool, err error) {
	resp, err := c.piped.GetStageMetadata(ctx, &pluginservice.GetStageMetadataRequest{
		DeploymentId: c.deploymentID, StageId: c.stageID, Key: key,
	})
	if err != nil {
		return "", false, fmt.Errorf("get stage metadata %s: %w", key, err)
	}
	return resp.GetValue(), resp.GetFound(), nil
}

// PutStageMetadata stores a value with the stage; users see those under DisplayMetadataKey.
func (c *StageClient) PutStageMetadata(ctx context.Context, key, value string) error {
	_, err := c.piped.PutStageMetadata(ctx, &pluginservice.PutStageMetadataRequest{
		DeploymentId: c.deploymentID, StageId: c.stageID, Key: key, Value: value,
	})
	if err != nil {
		return fmt.Errorf("put stage metadata %s: %w", key, err)
	}
	return nil
}

// PutStageMetadataMulti stores several values at once; others are kept.
func (c *StageClient) PutStageMetadataMulti(ctx context.Context, values map[string]string) error {
	_, err := c.piped.PutStageMetadataMulti(ctx, &pluginservice.PutStageMetadataMultiRequest{
		DeploymentId: c.deploymentID, StageId: c.stageID, Metadata: values,
	})
	if err != nil {
		return fmt.Errorf("put stage metadata: %w", err)
	}
	return nil
}

// PluginMetadata reads a value that the plugin put for this deployment, in any stage.
func (c *StageClient) PluginMetadata(ctx context.Context, key string) (value string, found bool, err error) {
	resp, err := c.piped.GetDeploymentPluginMetadata(ctx, &pluginservice.GetDeploymentPluginMetadataRequest{
		DeploymentId: c.deploymentID, PluginName: c.name, Key: key,
	})
	if err != nil {
		return "", false, fmt.Errorf("get deployment metadata %s: %w", key, err)
	}
	return resp.GetValue(), resp.GetFound(), nil
}

// PutPluginMetadata stores a value for this deployment that only this plugin sees.
func (c *StageClient) PutPluginMetadata(ctx context.Context, key, value string) error {
	_, err := c.piped.PutDeploymentPluginMetadata(ctx, &pluginservice.PutDeploymentPluginMetadataRequest{
		DeploymentId: c.deploymentID, PluginName: c.name, Key: key, Value: value,
	})
	if err != nil {
		return fmt.Errorf("put deployment metadata %s: %w", key, err)
	}
	return nil
}

// SharedMetadata reads a value that piped put for all plugins of this deployment.
func (c *StageClient) SharedMetadata(ctx context.Context, key string) (value string, found bool, err error) {
	resp, err := c.piped.GetDeploymentSharedMetadata(ctx, &pluginservice.GetDeploymentSharedMetadataRequest{
		DeploymentId: c.deploymentID, Key: key,
	})
	if err != nil {
		return "", false, fmt.Errorf("get shared metadata %s: %w", key, err)
	}
	return resp.GetValue(), resp.GetFound(), nil
}
