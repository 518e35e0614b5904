// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

func newApproveCommand(t *session.Target) *cobra.Command {
	var as string
	cmd := action(t, &cobra.Command{
		Use: "approve [APP|DEPLOYMENT] [STAGE]", Short: "Approve a waiting stage", Args: cobra.MaximumNArgs(2),
		Long: "Approve a waiting stage: the only one, or the stage with this id or type of this application or " +
			"deployment.\n" +
			"A single argument is an application, a deployment or a stage.\n" +
			"A stage with named approvers accepts only their approval; --as approves as one of them.\n" +
			"The stage keeps which user approved.",
		Example: "  pipedeck approve\n  pipedeck approve hello-world\n" +
			"  pipedeck approve hello-world approve --as alice",
	}, func(ctx context.Context, s *session.Session, l *resolve.Line) (document.Action, error) {
		return approveStage(ctx, s, l, as)
	})
	cmd.Flags().StringVar(&as, "as", "", "approve in the `NAME` of one of the stage's approvers (default: your "+
		"user name)")
	return cmd
}

// approveStage approves the stage that the arguments name, in the name of as unless that is empty.
func approveStage(ctx context.Context, s *session.Session, l *resolve.Line, as string) (document.Action, error) {
	w, err := approving().find(l)
	if err != nil {
		return document.Action{}, err
	}
	name := cmp.Or(as, session.Commander())
	if approvers := w.stage.GetApprovers(); len(approvers) > 0 && !slices.Contains(approvers, name) {
		return document.Action{}, w.namedApprovers(l, name)
	}
	answer, err := s.Deck.ApproveStage(ctx, &deckv1.ApproveStageRequest{
		DeploymentId: w.deployment.GetId(), StageId: w.stage.GetId(), Commander: name, User: session.Commander(),
	})
	by := ""
	if as != "" {
		by = " as " + as
	}
	return w.namesNewer(s.State, w.action("approved", by, answer.GetCommandId())), err
}

func newSkipCommand(t *session.Target) *cobra.Command {
	return action(t, &cobra.Command{
		Use: "skip [APP|DEPLOYMENT] STAGE", Short: "End a running stage that allows it", Args: cobra.RangeArgs(1, 2),
		Long: "End a running stage that can be skipped, given by its id or type. Name the application or deployment\n" +
			"too when such stages run in several. The application alone is enough when one of its stages can be\n" +
			"skipped.",
		Example: "  pipedeck skip WAIT\n  pipedeck skip hello-world wait",
	}, func(ctx context.Context, s *session.Session, l *resolve.Line) (document.Action, error) {
		w, err := skipping().find(l)
		if err != nil {
			return document.Action{}, err
		}
		answer, err := s.Deck.SkipStage(ctx, &deckv1.SkipStageRequest{DeploymentId: w.deployment.GetId(),
			StageId: w.stage.GetId(), Commander: session.Commander()})
		return w.namesNewer(s.State, w.action("skipped", "", answer.GetCommandId())), err
	})
}

// action returns what was done with the stage, and for which commit: the deployment may be another one than the user
// has looked at. by is " as NAME" for what was done in the name of another user.
func (w waitingStage) action(did, by, command string) document.Action {
	done, commit := onDeployment(w.deployment), w.deployment.GetCommit()
	done.Stage, done.StageName, done.Command = w.stage.GetId(), w.stage.GetName(), command
	done.Commit = commit.GetHash()
	done.Text = did + " " + state.StageWord(w.stage) + " of " + w.deployment.GetApplicationName() + by
	if done.Commit != "" {
		done.Text += ", commit " + line.Commit(done.Commit) + ": " + text.FirstLine(commit.GetMessage())
	}
	return done
}

// namesNewer adds to what was done that a newer commit of the application waits until this deployment has ended: the
// user may have meant that one.
func (w waitingStage) namesNewer(s *session.State, done document.Action) document.Action {
	for _, other := range s.Deployments(w.deployment.GetApplicationId()) { // the newest first
		switch hash := other.GetCommit().GetHash(); {
		case other.GetId() == w.deployment.GetId():
			return done
		case !state.Ended(other.GetStatus()) && hash != w.deployment.GetCommit().GetHash():
			done.Text += fmt.Sprintf("; the newer commit %s waits, as deployment %s", line.Commit(hash), other.GetId())
			return done
		}
	}
	return done
}
