// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/tui/document"
)

func newSyncCommand(t *session.Target) *cobra.Command {
	var strategy, commit string
	cmd := action(t, &cobra.Command{
		Use: "sync APP", Short: "Deploy the newest commit of an application", Args: cobra.ExactArgs(1),
		Long: "Deploy the newest commit of an application, given by its name or id, or by a deployment of it. The " +
			"command waits\nup to 8 s for piped to create the deployment, and fails with the reason when piped " +
			"refuses.\n\n" +
			"--commit deploys another commit in the history of the branch. The application is then out of sync with " +
			"Git, as\nafter pipedeck rollback.\n\n" +
			"Exit code 0: piped has created the deployment; 1: piped refuses; 4: piped has not answered. The request " +
			"is kept\nthen, and piped deploys once it can.",
		Example: "  pipedeck sync hello-world\n  pipedeck sync hello-world --strategy QUICK_SYNC\n" +
			"  pipedeck sync hello-world --commit 3f2a1c9",
	}, func(ctx context.Context, s *session.Session, l *resolve.Line) (document.Action, error) {
		return syncApplication(ctx, s, l, commit, strategy)
	})
	resolve.GivenVar(cmd.Flags(), &commit, "commit", "the `SHA` of the commit, or its beginning (default: the newest)")
	cmd.Flags().StringVar(&strategy, "strategy", "AUTO", "AUTO, QUICK_SYNC or PIPELINE")
	return cmd
}

// syncAnswer is the answer of the control plane to a request to deploy.
type syncAnswer interface {
	GetCommandId() string
	GetDeploymentId() string
	GetUnanswered() string
}

// syncApplication asks for a deployment, of the newest commit when commit is empty, and returns the one that piped has
// created. An error has the reason for which piped refuses; the action says why piped has not answered.
func syncApplication(
	ctx context.Context, s *session.Session, l *resolve.Line, commit, strategy string,
) (document.Action, error) {
	app, err := l.Argument(0).Application()
	if err != nil {
		return document.Action{}, err
	}
	if err := checkStrategy(strategy); err != nil {
		return document.Action{}, err
	}
	if err := checkCommit(commit); err != nil {
		return document.Action{}, err
	}
	var answer syncAnswer
	if commit == "" {
		answer, err = s.Deck.SyncApplication(ctx, &deckv1.SyncApplicationRequest{
			ApplicationId: app.GetId(), Strategy: strategy,
		})
	} else {
		answer, err = s.Deck.SyncCommit(ctx, &deckv1.SyncCommitRequest{
			ApplicationId: app.GetId(), Commit: commit, Strategy: strategy, Commander: session.Commander(),
		})
	}
	if err != nil {
		return document.Action{}, session.Unreachable(err)
	}
	done := onApplication(app)
	done.Command, done.Deployment, done.Unanswered = answer.GetCommandId(), answer.GetDeploymentId(),
		answer.GetUnanswered()
	done.Text, done.Commit = "asked for a deployment of "+app.GetName(), commit
	if done.Commit != "" {
		done.Text += " at commit " + line.Commit(done.Commit)
	}
	if done.Deployment != "" {
		done.Text += ": " + done.Deployment
	}
	return done, nil
}

// checkCommit refuses what cannot be the beginning of a hash; none is the newest commit.
func checkCommit(commit string) error {
	notHash := func(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) }
	if commit == "" || len(commit) >= 4 && len(commit) <= 40 && !strings.ContainsFunc(commit, notHash) {
		return nil
	}
	return exit.Usage(fmt.Errorf("--commit %q is not the hash of a commit", commit),
		"write 4 to 40 digits of it, as git log --oneline prints them")
}
