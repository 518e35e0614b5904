// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// Command is what a user asks of a running stage.
type Command struct {
	ID string
	// Operation is OperationApprove or OperationSkip.
	Operation Operation
	// Commander is the user's name.
	Commander string
}

func (c *stageClient) Commands(ctx context.Context) <-chan Command {
	out := make(chan Command)
	c.watches.Add(1)
	go func() {
		defer c.watches.Done()
		defer close(out)
		feed := &commandFeed{client: c, out: out, seen: make(map[string]bool)}
		feed.run(ctx)
	}()
	return out
}

// commandFeed passes on each command once, whichever way it came.
type commandFeed struct {
	client *stageClient
	out    chan<- Command
	seen   map[string]bool
}

func (f *commandFeed) run(ctx context.Context) {
	ask := f.watch
	for ctx.Err() == nil {
		if status.Code(ask(ctx)) == codes.Unimplemented {
			ask = f.list
			continue
		}
		pause(ctx, f.client.poll)
	}
}

// watch reads the stream of commands until it breaks.
func (f *commandFeed) watch(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := f.client.commands.WatchStageCommands(ctx, &agentv1.WatchStageCommandsRequest{
		DeploymentId: f.client.deploymentID, StageId: f.client.stageID,
	})
	if err != nil {
		return err
	}
	for {
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		f.pass(ctx, resp.GetCommands())
	}
}

// list asks once. Its errors are not the stage's business: the next question may be answered.
func (f *commandFeed) list(ctx context.Context) error {
	resp, err := f.client.piped.ListStageCommands(ctx, &pluginservice.ListStageCommandsRequest{
		DeploymentId: f.client.deploymentID, StageId: f.client.stageID,
	})
	if err == nil {
		f.pass(ctx, resp.GetCommands())
	}
	return nil
}

func (f *commandFeed) pass(ctx context.Context, commands []*model.Command) {
	for _, command := range commands {
		if f.seen[command.GetId()] {
			continue
		}
		f.seen[command.GetId()] = true
		asked, is := commandOf(command)
		if !is {
			continue
		}
		select {
		case f.out <- asked:
		case <-ctx.Done():
			return
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
