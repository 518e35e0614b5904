// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"context"
	"slices"

	"github.com/pipedeck/pipedeck/api/model"
)

// Decision is how a stage goes on that is paused at a breakpoint.
type Decision string

// The decisions of users.
const (
	DecisionContinue Decision = "continue"
	DecisionAgain    Decision = "again"
	DecisionSkip     Decision = "skip"
)

// The metadata of an APPROVE_STAGE command that is a decision about a paused stage: the decision, and the options that
// the user gives the stage. Only the control plane of pipedeck makes such commands; plugins never see them.
const (
	decisionKey        = "pipedeck/breakpoint"
	decisionOptionsKey = "pipedeck/breakpoint-options"
)

func isDecision(command *model.Command) bool { return command.GetMetadata()[decisionKey] != "" }

// DecisionOf is the decision in a command, with the options of the stage; empty for those in Git.
func DecisionOf(command *model.Command) (d Decision, options string) {
	return Decision(command.GetMetadata()[decisionKey]), command.GetMetadata()[decisionOptionsKey]
}

// AwaitDecision waits for the oldest decision about a paused stage, removes it and returns it; the caller reports it as
// handled. It returns the cause of the end of ctx.
func (c *Commands) AwaitDecision(ctx context.Context, deploymentID, stageID string) (*model.Command, error) {
	for {
		found, changed := c.takeDecision(deploymentID, stageID)
		if found != nil {
			return found, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (c *Commands) takeDecision(deploymentID, stageID string) (*model.Command, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.of(deploymentID, stageID)
	i := slices.IndexFunc(list, isDecision)
	if i < 0 {
		return nil, c.changed
	}
	c.taken[list[i].GetId()] = true
	c.list = slices.DeleteFunc(c.list, func(command *model.Command) bool { return command == list[i] })
	return list[i], nil
}
