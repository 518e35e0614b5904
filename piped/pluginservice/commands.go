// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"context"
	"slices"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// Commands holds the approvals and skips that the control plane has for running stages. It is fed by
// Replace and read by plugins.
type Commands struct {
	mu      sync.Mutex
	list    []*model.Command
	taken   map[string]bool // until the control plane lists them no more
	changed chan struct{}
}

// NewCommands creates an empty store.
func NewCommands() *Commands {
	return &Commands{taken: map[string]bool{}, changed: make(chan struct{})}
}

// Replace takes a new answer of ListUnhandledCommands; other kinds of commands are left out.
func (c *Commands) Replace(unhandled []*model.Command) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []*model.Command
	taken := map[string]bool{}
	for _, command := range unhandled {
		switch {
		case !isForStage(command):
		case c.taken[command.GetId()]:
			taken[command.GetId()] = true
		default:
			list = append(list, command)
		}
	}
	c.taken = taken
	c.list = list
	close(c.changed)
	c.changed = make(chan struct{})
}

// ForStage lists the commands for one stage, oldest first.
func (c *Commands) ForStage(deploymentID, stageID string) []*model.Command {
	list, _ := c.forStage(deploymentID, stageID)
	return list
}

// Take removes the commands for one stage and returns them; the caller reports them as handled.
func (c *Commands) Take(deploymentID, stageID string) []*model.Command {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.of(deploymentID, stageID)
	for _, command := range list {
		c.taken[command.GetId()] = true
	}
	c.list = slices.DeleteFunc(c.list, func(command *model.Command) bool { return c.taken[command.GetId()] })
	return list
}

// TakeOne removes a command; false when it is not there any more, because someone has taken it.
func (c *Commands) TakeOne(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := len(c.list)
	c.list = slices.DeleteFunc(c.list, func(command *model.Command) bool { return command.GetId() == id })
	if len(c.list) == before {
		return false
	}
	c.taken[id] = true
	return true
}

func (c *Commands) forStage(deploymentID, stageID string) ([]*model.Command, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(c.of(deploymentID, stageID), isDecision), c.changed
}

// of lists all commands for one stage, oldest first. The lock is held.
func (c *Commands) of(deploymentID, stageID string) []*model.Command {
	var list []*model.Command
	for _, command := range c.list {
		if command.GetDeploymentId() == deploymentID && command.GetStageId() == stageID {
			list = append(list, command)
		}
	}
	slices.SortStableFunc(list, func(a, b *model.Command) int { return int(a.GetCreatedAt() - b.GetCreatedAt()) })
	return list
}

func isForStage(command *model.Command) bool {
	t := command.GetType()
	return t == model.Command_APPROVE_STAGE || t == model.Command_SKIP_STAGE
}

// ListStageCommands returns the commands that wait for a stage.
func (s *Server) ListStageCommands(
	_ context.Context, request *pluginservice.ListStageCommandsRequest,
) (*pluginservice.ListStageCommandsResponse, error) {
	return &pluginservice.ListStageCommandsResponse{
		Commands: s.options.Commands.ForStage(request.GetDeploymentId(), request.GetStageId()),
	}, nil
}

// WatchStageCommands sends the commands that wait for a stage and then new ones, until the stage ends.
func (s *Server) WatchStageCommands(
	request *agentv1.WatchStageCommandsRequest, stream grpc.ServerStreamingServer[agentv1.WatchStageCommandsResponse],
) error {
	if request.GetDeploymentId() == "" || request.GetStageId() == "" {
		return status.Error(codes.InvalidArgument, "invalid request: deployment_id and stage_id must be given")
	}
	if err := s.permit(stream.Context(), request); err != nil {
		return err
	}
	stage, err := s.options.Registry.runningStage(request.GetDeploymentId(), request.GetStageId())
	if err != nil {
		return err
	}
	sent := map[string]bool{}
	for {
		list, changed := s.options.Commands.forStage(request.GetDeploymentId(), request.GetStageId())
		list = slices.DeleteFunc(list, func(command *model.Command) bool { return sent[command.GetId()] })
		if len(list) > 0 {
			if err := stream.Send(&agentv1.WatchStageCommandsResponse{Commands: list}); err != nil {
				return err
			}
			for _, command := range list {
				sent[command.GetId()] = true
			}
		}
		select {
		case <-changed:
		case <-stage.ended:
			return nil
		case <-s.stopping:
			return status.Error(codes.Unavailable, "piped is stopping")
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}
