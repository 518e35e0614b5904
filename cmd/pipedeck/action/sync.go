// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

func newSyncCommand(t *session.Target) *cobra.Command {
	var strategy, output string
	cmd := &cobra.Command{
		Use: "sync APP", Short: "Deploy the newest commit of an application", Args: cobra.ExactArgs(1),
		Long: "Deploy the newest commit of an application. The command waits up to 8 s for piped to create the " +
			"deployment,\nand fails with the reason when piped refuses.\n\n" +
			"Exit code 0: piped has created the deployment; 1: piped refuses; 4: piped has not answered. The request " +
			"is kept\nthen, and piped deploys once it can.",
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

// syncApplication asks for a deployment and prints the deployment that piped has created. An error has the reason for
// which piped refuses, or why piped has not answered.
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
		err = format.JSON(s.Out, answer)
	} else {
		text := "asked for a deployment of " + app.GetName()
		if answer.GetDeploymentId() != "" {
			text += ": " + answer.GetDeploymentId()
		}
		_, err = fmt.Fprintln(s.Out, text)
	}
	if err != nil || answer.GetUnanswered() == "" {
		return err
	}
	return exit.With(exit.TimedOut, errors.New(answer.GetUnanswered()),
		"see why: pipedeck status; the request is kept, and piped deploys once it can")
}
