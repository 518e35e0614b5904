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

// Client reaches what piped offers to a plugin outside a stage. Calls wait for piped to answer as long
// as their context lives.
type Client struct {
	name     string
	piped    pluginservice.PluginServiceClient
	commands agentv1.StageCommandServiceClient
	// poll is the pause between two questions for commands when piped cannot push them.
	poll time.Duration
	// journal takes what stages write to their logs; nil for nothing.
	journal *logJournal
}

func newClient(name string, conn grpc.ClientConnInterface, poll time.Duration) *Client {
	return &Client{
		name:     name,
		piped:    pluginservice.NewPluginServiceClient(conn),
		commands: agentv1.NewStageCommandServiceClient(conn),
		poll:     poll,
	}
}

// InstallTool makes sure that one version of a tool is on this machine and gives its path. script is a
// shell script in Go text/template form that leaves the binary at {{ .OutPath }}; it runs only when the
// tool is not there (PipeCD v1: variables Name, Version, OutPath, TmpDir, Arch, Os).
func (c *Client) InstallTool(ctx context.Context, name, version, script string) (path string, err error) {
	resp, err := c.piped.InstallTool(ctx, &pluginservice.InstallToolRequest{Name: name, Version: version,
		InstallScript: script})
	if err != nil {
		return "", fmt.Errorf("install %s %s: %w", name, version, err)
	}
	return resp.GetInstalledPath(), nil
}

// SharedObject returns what the plugin stored for an application under key; found is false when nothing.
func (c *Client) SharedObject(ctx context.Context, applicationID, key string) (object []byte, found bool, err error) {
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

// PutSharedObject stores an object for an application; the control plane keeps it. At most about 4 MiB.
func (c *Client) PutSharedObject(ctx context.Context, applicationID, key string, object []byte) error {
	_, err := c.piped.PutApplicationSharedObject(ctx, &pluginservice.PutApplicationSharedObjectRequest{
		ApplicationId: applicationID, PluginName: c.name, Key: key, Object: object,
	})
	if err != nil {
		return fmt.Errorf("put shared object %s of application %s: %w", key, applicationID, err)
	}
	return nil
}
