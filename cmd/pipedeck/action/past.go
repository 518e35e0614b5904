// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/state"
)

// again is the action of a command that has deployed the commit of an earlier deployment.
func again(did string, of *deckv1.Deployment, command, deployed string) document.Action {
	done := onDeployment(of)
	done.Commit, done.Of, done.Command, done.Deployment = of.GetCommit().GetHash(), of.GetId(), command, deployed
	done.Text = fmt.Sprintf("%s, by a deployment of commit %s", did, line.Commit(done.Commit))
	if deployed != "" {
		done.Text += ": " + deployed
	}
	return done
}

func newRetryCommand(t *session.Target) *cobra.Command {
	return action(t, &cobra.Command{
		Use: "retry APP|DEPLOYMENT", Short: "Deploy the commit of a failed deployment again",
		Args: cobra.ExactArgs(1),
		Long: "Deploy the commit of the newest deployment of an application again, by the same strategy. That " +
			"deployment\nmust have failed or been cancelled.",
		Example: "  pipedeck retry hello-world\n  pipedeck retry 3f2a -o json",
	}, func(ctx context.Context, s *session.Session, l *resolve.Line) (document.Action, error) {
		target, err := l.Argument(0).Target()
		if err != nil {
			return document.Action{}, err
		}
		d, reason := s.State.Retryable(target.Application)
		if reason == "" && target.Deployment != nil && target.Deployment.GetId() != d.GetId() {
			reason = "only the newest deployment can be retried, which is " + d.GetId() +
				"; pipedeck rollback " + target.Application.GetName() + " deploys an earlier commit"
		}
		if reason != "" {
			return document.Action{}, cannot("retry", target.Application, reason)
		}
		answer, err := s.Deck.RetryDeployment(ctx, &deckv1.RetryDeploymentRequest{
			DeploymentId: d.GetId(), Commander: session.Commander(),
		})
		return again("asked to retry "+target.Application.GetName(), d, answer.GetCommandId(),
			answer.GetDeploymentId()), err
	})
}

func newRollbackCommand(t *session.Target) *cobra.Command {
	var to, strategy string
	cmd := action(t, &cobra.Command{
		Use: "rollback APP", Short: "Deploy an earlier commit that has succeeded", Args: cobra.ExactArgs(1),
		Long: "Deploy the commit of an earlier deployment that has succeeded: the last one with another commit than " +
			"what\nis live, or the one that --to names.\n" +
			"The application is then out of sync with Git. The next commit that changes it, or pipedeck sync, " +
			"deploys\nthe newest commit. Commits of which no such deployment is kept: pipedeck sync --commit.",
		Example: "  pipedeck rollback hello-world\n  pipedeck rollback hello-world --to 3f2a1c9",
	}, func(ctx context.Context, s *session.Session, l *resolve.Line) (document.Action, error) {
		if err := checkStrategy(strategy); err != nil {
			return document.Action{}, err
		}
		target, err := l.Argument(0).Target()
		if err != nil {
			return document.Action{}, err
		}
		if d := target.Deployment; d != nil {
			return document.Action{}, resolve.NotADeployment(d, "to roll back to it: "+
				l.CommandWith("to", d.GetId(), s.State.ApplicationArgument(target.Application)))
		}
		d, err := rollbackTarget(s.State, target.Application, l, to)
		if err != nil {
			return document.Action{}, err
		}
		answer, err := s.Deck.RollBackApplication(ctx, &deckv1.RollBackApplicationRequest{
			DeploymentId: d.GetId(), Commander: session.Commander(), Strategy: strategy,
		})
		return again("asked to roll back "+target.Application.GetName(), d, answer.GetCommandId(),
			answer.GetDeploymentId()), err
	})
	resolve.GivenVar(cmd.Flags(), &to, "to", "the `DEPLOYMENT` or its commit, or the beginning of either")
	cmd.Flags().StringVar(&strategy, "strategy", "AUTO", "AUTO, QUICK_SYNC or PIPELINE")
	return cmd
}

// rollbackTarget finds the deployment that to names, by the beginning of its id or of its commit; the newest of those
// that the application can be rolled back to when to is empty.
func rollbackTarget(s *session.State, app *deckv1.Application, l *resolve.Line, to string) (*deckv1.Deployment, error) {
	targets, reason := s.RollbackTargets(app)
	if to != "" && state.Ended(s.Newest(app.GetId()).GetStatus()) {
		if why := noTarget(s, app, targets, to); why != "" {
			return nil, exit.Usage(fmt.Errorf("cannot roll back %s: %s", app.GetName(), why),
				l.Flag("to", to).OneOfCommits(targets, "see pipedeck deployments"))
		}
	}
	if reason != "" {
		return nil, cannot("roll back", app, reason)
	}
	newest := s.Newest(app.GetId())
	live := state.LiveCommit(newest)
	if to == "" && live != "" && live != newest.GetCommit().GetHash() {
		return nil, cannot("roll back", app, "its failed deployment was rolled back already, so commit "+
			line.Commit(live)+" is live; for an older one: "+
			l.CommandWith("to", targets[0].GetId(), s.ApplicationArgument(app)))
	}
	if to == "" {
		return targets[0], nil
	}
	earlier := slices.DeleteFunc(slices.Clone(s.Deployments(app.GetId())), func(d *deckv1.Deployment) bool {
		return !isTarget(targets, d)
	})
	return l.Flag("to", to).Earlier(earlier, app)
}

// noTarget says why an application cannot be rolled back to a deployment, or a commit, that it has; empty when it can,
// and when it has none of that name, or several.
func noTarget(s *session.State, app *deckv1.Application, targets []*deckv1.Deployment, to string) string {
	named := resolve.Best(s.Deployments(app.GetId()), func(d *deckv1.Deployment) int {
		return resolve.Fit(to, d.GetId(), d.GetCommit().GetHash())
	})
	if len(named) == 0 || slices.ContainsFunc(named, func(d *deckv1.Deployment) bool {
		return isTarget(targets, d) || d.GetCommit().GetHash() != named[0].GetCommit().GetHash()
	}) {
		return ""
	}
	newest := named[0]
	commit := line.Commit(newest.GetCommit().GetHash())
	switch {
	case newest.GetCommit().GetHash() == state.LiveCommit(s.Newest(app.GetId())):
		return "commit " + commit + " is live already"
	case newest.GetStatus() == deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS:
		return ""
	}
	return fmt.Sprintf("deployment %s of commit %s has not succeeded (%s), so it is no release to go back to",
		newest.GetId(), commit, document.Word(newest.GetStatus()))
}

// isTarget reports whether a deployment has succeeded with the commit of one of the targets.
func isTarget(targets []*deckv1.Deployment, d *deckv1.Deployment) bool {
	return d.GetStatus() == deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS &&
		slices.ContainsFunc(targets, func(target *deckv1.Deployment) bool {
			return target.GetCommit().GetHash() == d.GetCommit().GetHash()
		})
}

// cannot is the error for an application of which no earlier commit can be deployed now.
func cannot(do string, app *deckv1.Application, reason string) error {
	problem := fmt.Sprintf("cannot %s %s: %s", do, app.GetName(), reason)
	if at := strings.LastIndex(problem, "; "); at >= 0 {
		return exit.Usage(errors.New(problem[:at]), problem[at+2:])
	}
	return exit.Usage(errors.New(problem), "see pipedeck deployments")
}
