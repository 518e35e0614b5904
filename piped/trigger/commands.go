// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/piped/redeploy"
	"github.com/pipedeck/pipedeck/piped/removal"
)

// request is what a command asks for.
type request struct {
	application string
	// past is the earlier commit to deploy; its zero value stands for the newest.
	past redeploy.Request
	// removes says that what past has deployed is deleted.
	removes bool
	cause   cause
}

// requestOf reads a command. The id of the deployment is made from the command's, so that a piped that was
// killed before it could answer does not deploy twice.
func requestOf(command *model.Command) request {
	id := uuid.NewSHA1(uuid.NameSpaceOID, []byte(command.GetId())).String()
	c := cause{
		id: id, kind: onCommand, commander: command.GetCommander(),
		strategy: command.GetSyncApplication().GetSyncStrategy(), log: "asked for by " + command.GetCommander(),
	}
	application := command.GetSyncApplication().GetApplicationId()
	by := "a command of " + command.GetCommander()
	if command.GetType() == model.Command_CHAIN_SYNC_APPLICATION {
		chained := command.GetChainSyncApplication()
		application = chained.GetApplicationId()
		c.kind, c.strategy = onChain, chained.GetSyncStrategy()
		c.chain, c.block = chained.GetDeploymentChainId(), chained.GetBlockIndex()
		by = "deployment chain " + c.chain
		c.log = "asked for by " + by
	}
	if c.kind == onChain {
		c.why = fmt.Sprintf("Sync in block %d of %s", c.block, by)
	}
	switch c.strategy {
	case model.SyncStrategy_QUICK_SYNC:
		c.why = "Quick sync because of " + by
	case model.SyncStrategy_PIPELINE:
		c.why = "Sync with the specified pipeline because of " + by
	}
	past, removes := redeploy.RequestOf(command), removal.IsAsked(command)
	switch {
	case removes:
		c.why = removal.Summary(by)
	case past.Commit != "":
		c.why = past.Summary(command.GetCommander())
	}
	return request{application: application, past: past, removes: removes, cause: c}
}

// carryOut acts on the commands that wait: each one whose repository was looked at since gets a deployment
// or a refusal. An application gets one deployment in a pass; more of its commands wait for the next.
func (t *Trigger) carryOut(ctx context.Context, candidates []*candidate) error {
	for command := range t.commands.open() {
		w := requestOf(command)
		c := find(candidates, w.application)
		why := t.reasonAgainst(command, w, c)
		switch {
		case !t.upToDate(command, w):
			continue // its repository reports when it is
		case why != "":
			if err := t.refuse(ctx, command, why); err != nil {
				return err
			}
		case c.deployed:
			t.again = true
		default:
			if err := t.sync(ctx, command, c, w); err != nil {
				return err
			}
		}
	}
	return nil
}

// sync creates the deployment that a command asks for. What the control plane refuses for good is the
// command's answer.
func (t *Trigger) sync(ctx context.Context, command *model.Command, c *candidate, w request) error {
	var err error
	switch {
	case w.removes:
		err = t.createRemoval(ctx, c, w.past.Commit, w.cause)
	case w.past.Commit == "":
		err = t.create(ctx, c, w.cause)
	default:
		err = t.createPast(ctx, c, w)
	}
	var unusable *unusableCommitError
	var unremovable *unremovableError
	switch {
	case err == nil:
		return t.answer(
			ctx, command, model.CommandStatus_COMMAND_SUCCEEDED, map[string]string{"TriggeredDeploymentID": w.cause.id},
		)
	case controlplane.Refused(err), errors.As(err, &unusable), errors.As(err, &unremovable):
		return t.refuse(ctx, command, err.Error())
	default:
		return err
	}
}

func (t *Trigger) refuse(ctx context.Context, command *model.Command, why string) error {
	t.logger.Warn(
		"command to sync refused", "command", command.GetId(), "application", command.GetApplicationId(), "reason", why,
	)
	return t.answer(ctx, command, model.CommandStatus_COMMAND_FAILED, map[string]string{"Reason": why})
}

// upToDate says whether the application's repository was looked at since the command became known: users
// who sync mean what they have just pushed.
func (t *Trigger) upToDate(command *model.Command, w request) bool {
	r := t.repositories[t.applications.find(w.application).GetGitPath().GetRepo().GetId()]
	if r == nil {
		return true // there is nothing to wait for
	}
	return t.snapshots[r.git.ID()].looks >= t.commands.look(command, r.look)
}

// reasonAgainst says why a command cannot be carried out; empty when it can.
func (t *Trigger) reasonAgainst(command *model.Command, w request, c *candidate) string {
	a := t.applications.find(w.application)
	repositoryID := a.GetGitPath().GetRepo().GetId()
	switch {
	case a == nil:
		return fmt.Sprintf("application %q is unknown to this piped or disabled", w.application)
	case t.repositories[repositoryID] == nil:
		return fmt.Sprintf(
			"repository %q of application %s is not in the configuration of this piped", repositoryID, a.GetName(),
		)
	case c == nil:
		return fmt.Sprintf("application %s cannot be read: %v", a.GetName(), t.snapshots[repositoryID].err)
	case c.err != nil && w.past.Commit != "":
		return "" // the earlier commit has its own configuration
	case c.err != nil:
		return fmt.Sprintf("the configuration of application %s is invalid: %v", a.GetName(), c.err)
	default:
		return refusal(c.config.Trigger, command.GetType())
	}
}

func (t *Trigger) answer(
	ctx context.Context, command *model.Command, status model.CommandStatus, metadata map[string]string,
) error {
	request := &pipedservice.ReportCommandHandledRequest{
		CommandId: command.GetId(), Status: status, Metadata: metadata, HandledAt: t.options.Clock.Now().Unix(),
		Output: []byte(metadata["Reason"]),
	}
	if _, err := t.options.ControlPlane.ReportCommandHandled(ctx, request); err != nil {
		return fmt.Errorf("report command %s as handled: %w", command.GetId(), err)
	}
	t.commands.answered(command)
	return nil
}
