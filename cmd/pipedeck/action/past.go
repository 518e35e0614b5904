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
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/line"
)

// past is what a command that deploys an earlier commit has done.
type past struct {
	did      string
	of       *deckv1.Deployment
	command  string
	deployed string
}

// print prints a line, or JSON for machines.
func (p past) print(s *session.Session, output string) error {
	if output == "json" {
		return format.JSON(s.Out, map[string]any{
			"application": p.of.GetApplicationName(), "commit": p.of.GetCommit().GetHash(), "of": p.of.GetId(),
			"command": p.command, "deployment": p.deployed,
		})
	}
	text := fmt.Sprintf("%s, by a deployment of commit %s", p.did, line.Commit(p.of.GetCommit().GetHash()))
	if p.deployed != "" {
		text += ": " + p.deployed
	}
	_, err := fmt.Fprintln(s.Out, text)
	return err
}

// pastAction completes a subcommand that deploys an earlier commit of the application that is its argument.
func pastAction(t *session.Target, cmd *cobra.Command,
	act func(ctx context.Context, s *session.Session, app *deckv1.Application) (past, error)) *cobra.Command {
	var output string
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return t.Run(cmd, func(ctx context.Context, s *session.Session) error {
			app, err := s.State.FindApplication(args[0])
			if err != nil {
				return err
			}
			done, err := act(ctx, s, app)
			if err != nil {
				return session.Refusal(err)
			}
			return done.print(s, output)
		})
	}
	format.AddFlag(cmd, &output)
	return cmd
}

func newRetryCommand(t *session.Target) *cobra.Command {
	return pastAction(t, &cobra.Command{
		Use: "retry APP", Short: "Deploy the commit of a failed deployment again", Args: cobra.ExactArgs(1),
		Long: "Deploy the commit of the newest deployment of an application again, by the same strategy. That " +
			"deployment\nmust have failed or been cancelled.",
		Example: "  pipedeck retry hello-world\n  pipedeck retry hello-world -o json",
	}, func(ctx context.Context, s *session.Session, app *deckv1.Application) (past, error) {
		d, reason := s.State.Retryable(app)
		if reason != "" {
			return past{}, cannot("retry", app, reason)
		}
		answer, err := s.Deck.RetryDeployment(ctx, &deckv1.RetryDeploymentRequest{
			DeploymentId: d.GetId(), Commander: session.Commander(),
		})
		return past{"asked to retry " + app.GetName(), d, answer.GetCommandId(), answer.GetDeploymentId()}, err
	})
}

func newRollbackCommand(t *session.Target) *cobra.Command {
	var to, strategy string
	cmd := pastAction(t, &cobra.Command{
		Use: "rollback APP", Short: "Deploy an earlier commit that has succeeded", Args: cobra.ExactArgs(1),
		Long: "Deploy the commit of an earlier deployment that has succeeded: the last one with another commit than " +
			"what\nis live, or the one that --to names.\n" +
			"The application is then out of sync with Git. The next commit that changes it, or pipedeck sync, " +
			"deploys\nthe newest commit.",
		Example: "  pipedeck rollback hello-world\n  pipedeck rollback hello-world --to 3f2a1c9",
	}, func(ctx context.Context, s *session.Session, app *deckv1.Application) (past, error) {
		if err := checkStrategy(strategy); err != nil {
			return past{}, err
		}
		d, err := rollbackTarget(s.State, app, to)
		if err != nil {
			return past{}, err
		}
		answer, err := s.Deck.RollBackApplication(ctx, &deckv1.RollBackApplicationRequest{
			DeploymentId: d.GetId(), Commander: session.Commander(), Strategy: strategy,
		})
		return past{"asked to roll back " + app.GetName(), d, answer.GetCommandId(), answer.GetDeploymentId()}, err
	})
	cmd.Flags().StringVar(&to, "to", "", "the `DEPLOYMENT` or its commit, or the beginning of either")
	cmd.Flags().StringVar(&strategy, "strategy", "AUTO", "AUTO, QUICK_SYNC or PIPELINE")
	return cmd
}

// minID is how much of an id or a hash is needed at least.
const minID = 4

// rollbackTarget finds the deployment that to names, by the beginning of its id or of its commit; the newest of those
// that the application can be rolled back to when to is empty.
func rollbackTarget(s *session.State, app *deckv1.Application, to string) (*deckv1.Deployment, error) {
	targets, reason := s.RollbackTargets(app)
	if reason != "" {
		return nil, cannot("roll back", app, reason)
	}
	if to == "" {
		return targets[0], nil
	}
	var found []*deckv1.Deployment
	commits := map[string]bool{}
	for _, d := range s.Deployments(app.GetId()) {
		if hash := d.GetCommit().GetHash(); len(to) >= minID && isTarget(targets, d) &&
			(strings.HasPrefix(d.GetId(), to) || strings.HasPrefix(hash, to)) {
			found = append(found, d)
			commits[hash] = true
		}
	}
	switch len(commits) {
	case 1:
		return found[0], nil
	case 0:
		return nil, exit.Usage(fmt.Errorf("no earlier deployment of %s that has succeeded is %q", app.GetName(), to),
			session.Choices("commit", commitsOf(targets)))
	}
	return nil, exit.Usage(fmt.Errorf("%q begins %d commits or deployments of %s", to, len(commits), app.GetName()),
		"give more of it")
}

// isTarget reports whether a deployment has succeeded with the commit of one of the targets.
func isTarget(targets []*deckv1.Deployment, d *deckv1.Deployment) bool {
	return d.GetStatus() == deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS &&
		slices.ContainsFunc(targets, func(target *deckv1.Deployment) bool {
			return target.GetCommit().GetHash() == d.GetCommit().GetHash()
		})
}

func commitsOf(deployments []*deckv1.Deployment) (commits []string) {
	for _, d := range deployments {
		commits = append(commits, line.Commit(d.GetCommit().GetHash()))
	}
	return commits
}

// cannot is the error for an application of which no earlier commit can be deployed now.
func cannot(do string, app *deckv1.Application, reason string) error {
	problem := fmt.Sprintf("cannot %s %s: %s", do, app.GetName(), reason)
	if at := strings.LastIndex(problem, "; "); at >= 0 {
		return exit.Usage(errors.New(problem[:at]), problem[at+2:])
	}
	return exit.Usage(errors.New(problem), "see pipedeck deployments")
}
