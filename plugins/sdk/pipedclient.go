// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// pipedClient is the Client of a plugin that piped has started.
type pipedClient struct {
	name     string
	piped    pluginservice.PluginServiceClient
	commands agentv1.StageCommandServiceClient
	// poll is the pause between two questions for commands when piped cannot push them.
	poll time.Duration
	// journal takes what stages write to their logs; nil for nothing.
	journal *logJournal
}

var _ Client = (*pipedClient)(nil)

func newClient(name string, conn grpc.ClientConnInterface, poll time.Duration) *pipedClient {
	return &pipedClient{
		name:     name,
		piped:    pluginservice.NewPluginServiceClient(conn),
		commands: agentv1.NewStageCommandServiceClient(conn),
		poll:     poll,
	}
}

func (c *pipedClient) InstallTool(ctx context.Context, name, version, script string) (path string, err error) {
	resp, err := c.piped.InstallTool(ctx, &pluginservice.InstallToolRequest{Name: name, Version: version,
		InstallScript: script})
	if err != nil {
		return "", fmt.Errorf("install %s %s: %w", name, version, err)
	}
	return resp.GetInstalledPath(), nil
}

func (c *pipedClient) SharedObject(ctx context.Context, applicationID, key string) (object []byte, found bool,
	err error) {
	resp, err := c.piped.GetApplicationSharedObject(ctx, &pluginservice.GetApplicationSharedObjectRequest{
		ApplicationId: applicationID, PluginName: c.name, Key: key,
	})
	switch {
	case status.Code(err) == codes.NotFound:
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("get shared object %s of application %s: %w", key, applicationID, err)
	}
	return resp.GetObject(), true, nil
}

func (c *pipedClient) PutSharedObject(ctx context.Context, applicationID, key string, object []byte) error {
	_, err := c.piped.PutApplicationSharedObject(ctx, &pluginservice.PutApplicationSharedObjectRequest{
		ApplicationId: applicationID, PluginName: c.name, Key: key, Object: object,
	})
	if err != nil {
		return fmt.Errorf("put shared object %s of application %s: %w", key, applicationID, err)
	}
	return nil
}
