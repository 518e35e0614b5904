// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/document"
)

func newSyncCommand(t *session.Target) *cobra.Command {
	var strategy string
	cmd := action(t, &cobra.Command{
		Use: "sync APP", Short: "Deploy the newest commit of an application", Args: cobra.ExactArgs(1),
		Long: "Deploy the newest commit of an application, given by its name or id, or by a deployment of it. The " +
			"command waits\nup to 8 s for piped to create the deployment, and fails with the reason when piped " +
			"refuses.\n\n" +
			"Exit code 0: piped has created the deployment; 1: piped refuses; 4: piped has not answered. The request " +
			"is kept\nthen, and piped deploys once it can.",
		Example: "  pipedeck sync hello-world\n  pipedeck sync hello-world --strategy QUICK_SYNC",
	}, func(ctx context.Context, s *session.Session, l *resolve.Line) (document.Action, error) {
		return syncApplication(ctx, s, l, strategy)
	})
	cmd.Flags().StringVar(&strategy, "strategy", "AUTO", "AUTO, QUICK_SYNC or PIPELINE")
	return cmd
}

// syncApplication asks for a deployment and returns the one that piped has created. An error has the reason for which
// piped refuses; the action says why piped has not answered.
func syncApplication(ctx context.Context, s *session.Session, l *resolve.Line, strategy string) (document.Action,
	error) {
	app, err := l.Argument(0).Application()
	if err != nil {
		return document.Action{}, err
	}
	if err := checkStrategy(strategy); err != nil {
		return document.Action{}, err
	}
	answer, err := s.Deck.SyncApplication(ctx, &deckv1.SyncApplicationRequest{
		ApplicationId: app.GetId(), Strategy: strategy,
	})
	if err != nil {
		return document.Action{}, session.Unreachable(err)
	}
	done := onApplication(app)
	done.Command, done.Deployment, done.Unanswered = answer.GetCommandId(), answer.GetDeploymentId(),
		answer.GetUnanswered()
	done.Text = "asked for a deployment of " + app.GetName()
	if done.Deployment != "" {
		done.Text += ": " + done.Deployment
	}
	return done, nil
}
