// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// Keys of stage metadata that PipeCD's UIs know.
const (
	MetadataKeyStageDisplay       = sdk.DisplayMetadataKey
	MetadataKeyStageApprovedUsers = sdk.ApprovedUsersMetadataKey
)

// errNoStage is for calls that need a stage outside one.
var errNoStage = errors.New("this call needs a stage, and there is none at planning")

// Client reaches what piped offers.
type Client struct {
	client sdk.Client
	// stage and log are nil outside a stage.
	stage         sdk.StageClient
	log           sdk.StageLog
	applicationID string
}

// StageLogPersister is the log of a stage.
type StageLogPersister interface {
	Write(log []byte) (int, error)
	Info(log string)
	Infof(format string, a ...any)
	Success(log string)
	Successf(format string, a ...any)
	Error(log string)
	Errorf(format string, a ...any)
}

// GetStageMetadata reads a value that the stage put.
func (c *Client) GetStageMetadata(ctx context.Context, key string) (value string, found bool, err error) {
	return c.get(ctx, sdk.OfStage, key)
}

// PutStageMetadata stores a value with the stage.
func (c *Client) PutStageMetadata(ctx context.Context, key, value string) error {
	return c.put(ctx, sdk.OfStage, map[string]string{key: value})
}

// PutStageMetadataMulti stores several values with the stage.
func (c *Client) PutStageMetadataMulti(ctx context.Context, metadata map[string]string) error {
	return c.put(ctx, sdk.OfStage, metadata)
}

// GetDeploymentPluginMetadata reads a value that the plugin put for the deployment.
func (c *Client) GetDeploymentPluginMetadata(ctx context.Context, key string) (value string, found bool, err error) {
	return c.get(ctx, sdk.OfDeployment, key)
}

// PutDeploymentPluginMetadata stores a value of the plugin for the deployment.
func (c *Client) PutDeploymentPluginMetadata(ctx context.Context, key, value string) error {
	return c.put(ctx, sdk.OfDeployment, map[string]string{key: value})
}

// PutDeploymentPluginMetadataMulti stores several values of the plugin for the deployment.
func (c *Client) PutDeploymentPluginMetadataMulti(ctx context.Context, metadata map[string]string) error {
	return c.put(ctx, sdk.OfDeployment, metadata)
}

// GetDeploymentSharedMetadata reads a value that piped put for all plugins of the deployment.
func (c *Client) GetDeploymentSharedMetadata(ctx context.Context, key string) (value string, found bool, err error) {
	return c.get(ctx, sdk.Shared, key)
}

func (c *Client) get(ctx context.Context, scope sdk.MetadataScope, key string) (string, bool, error) {
	if c.stage == nil {
		return "", false, errNoStage
	}
	return c.stage.Metadata(ctx, scope, key)
}

func (c *Client) put(ctx context.Context, scope sdk.MetadataScope, values map[string]string) error {
	if c.stage == nil {
		return errNoStage
	}
	return c.stage.PutMetadata(ctx, scope, maps.Clone(values))
}

// GetApplicationSharedObject reads an object that the plugin stored for the application.
func (c *Client) GetApplicationSharedObject(ctx context.Context, key string) (object []byte, found bool, err error) {
	if c.stage == nil {
		return nil, false, errNoStage
	}
	return c.client.SharedObject(ctx, c.applicationID, key)
}

// PutApplicationSharedObject stores an object of the plugin for the application.
func (c *Client) PutApplicationSharedObject(ctx context.Context, key string, object []byte) error {
	if c.stage == nil {
		return errNoStage
	}
	return c.client.PutSharedObject(ctx, c.applicationID, key, object)
}

// StageLogPersister returns the log of the stage; outside a stage, that is an error.
func (c *Client) StageLogPersister() (StageLogPersister, error) {
	if c.log == nil {
		return nil, errNoStage
	}
	return c.log, nil
}

// LogPersister returns the log of the stage; nil outside a stage.
func (c *Client) LogPersister() StageLogPersister {
	if c.log == nil {
		return nil
	}
	return c.log
}

// ToolRegistry returns what installs tools.
func (c *Client) ToolRegistry() *ToolRegistry { return &ToolRegistry{c.client} }

// ToolRegistry installs tools.
type ToolRegistry struct{ client sdk.Client }

// InstallTool makes sure that one version of a tool is on this machine and gives its path.
func (r *ToolRegistry) InstallTool(ctx context.Context, name, version, script string) (path string, err error) {
	return r.client.InstallTool(ctx, name, version, script)
}

// StageCommand is what a user asks of a running stage.
type StageCommand struct {
	Commander string
	Type      CommandType
}

// CommandType is the kind of a command.
type CommandType int32

// The kinds of commands.
const (
	CommandTypeApproveStage CommandType = iota
	CommandTypeSkipStage
)

// ListStageCommands yields the commands of these kinds, each once, as they come. It ends with ctx; that of PipeCD's SDK
// does not.
func (c *Client) ListStageCommands(ctx context.Context, types ...CommandType) iter.Seq2[*StageCommand, error] {
	return func(yield func(*StageCommand, error) bool) {
		if c.stage == nil {
			yield(nil, errNoStage)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		for command := range c.stage.Commands(ctx) {
			kind := CommandTypeApproveStage
			if command.Operation == sdk.OperationSkip {
				kind = CommandTypeSkipStage
			}
			if slices.Contains(types, kind) && !yield(&StageCommand{Commander: command.Commander, Type: kind}, nil) {
				return
			}
		}
	}
}
