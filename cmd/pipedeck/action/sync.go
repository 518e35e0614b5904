// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

func newSyncCommand(t *session.Target) *cobra.Command {
	var strategy, output string
	cmd := &cobra.Command{
		Use: "sync APP", Short: "Deploy the newest commit of an application", Args: cobra.ExactArgs(1),
		Long: "Deploy the newest commit of an application. The command waits up to 8 s for piped to create the " +
			"deployment,\nand fails with the reason when piped refuses.",
		Example: "  pipedeck sync hello-world\n  pipedeck sync hello-world --strategy QUICK_SYNC",
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return t.Run(cmd, func(ctx context.Context, s *session.Session) error {
			return syncApplication(ctx, s, args[0], strategy, output)
		})
	}
	cmd.Flags().StringVar(&strategy, "strategy", "AUTO", "AUTO, QUICK_SYNC or PIPELINE")
	format.AddFlag(cmd, &output)
	return cmd
}

// syncApplication asks for a deployment and prints piped's answer: the deployment, or why there is none yet. An error
// has the reason for which piped refuses.
func syncApplication(ctx context.Context, s *session.Session, name, strategy, output string) error {
	app, err := s.State.FindApplication(name)
	if err != nil {
		return err
	}
	if err := checkStrategy(strategy); err != nil {
		return err
	}
	answer, err := s.Deck.SyncApplication(ctx, &deckv1.SyncApplicationRequest{
		ApplicationId: app.GetId(), Strategy: strategy,
	})
	if err != nil {
		return session.Unreachable(err)
	}
	if output == "json" {
		return format.JSON(s.Out, answer)
	}
	text := "asked for a deployment of " + app.GetName()
	switch {
	case answer.GetDeploymentId() != "":
		text += ": " + answer.GetDeploymentId()
	case answer.GetUnanswered() != "":
		text += "; " + answer.GetUnanswered()
	}
	_, err = fmt.Fprintln(s.Out, text)
	return err
}
