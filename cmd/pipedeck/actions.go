// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"slices"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// commander is how a user of this machine appears in logs and deployments.
func commander() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "pipedeck"
}

// action makes a subcommand that finds something in the state and asks the environment to act.
func action(t *target, cmd *cobra.Command, act func(ctx context.Context, deck deckv1.DeckServiceClient, s *snapshot, arg string) (done string, err error)) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		arg := ""
		if len(args) > 0 {
			arg = args[0]
		}
		return t.call(cmd.Context(), func(ctx context.Context, deck deckv1.DeckServiceClient) error {
			s, err := takeSnapshot(ctx, deck)
			if err != nil {
				return err
			}
			done, err := act(ctx, deck, s, arg)
			if err != nil {
				return refusal(err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), done)
			return err
		})
	}
	return cmd
}

// refusal shows what the environment answered without gRPC's words around it.
func refusal(err error) error {
	if s, ok := status.FromError(err); ok {
		return &exitError{exitFailed, errors.New(s.Message()), "see pipedeck status"}
	}
	return err
}

func newSyncCommand(t *target) *cobra.Command {
	var strategy string
	cmd := action(t, &cobra.Command{
		Use: "sync APP", Short: "Deploy the newest commit of an application", Args: cobra.ExactArgs(1),
		Example: "  pipedeck sync hello-world\n  pipedeck sync hello-world --strategy QUICK_SYNC",
	}, func(ctx context.Context, deck deckv1.DeckServiceClient, s *snapshot, name string) (string, error) {
		app, err := s.application(name)
		if err != nil {
			return "", err
		}
		if !slices.Contains([]string{"AUTO", "QUICK_SYNC", "PIPELINE"}, strategy) {
			return "", usageError(fmt.Errorf("--strategy %q is unknown", strategy), "use AUTO, QUICK_SYNC or PIPELINE")
		}
		_, err = deck.SyncApplication(ctx, &deckv1.SyncApplicationRequest{ApplicationId: app.Id, Strategy: strategy})
		return "asked for a deployment of " + app.Name, err
	})
	cmd.Flags().StringVar(&strategy, "strategy", "AUTO", "AUTO, QUICK_SYNC or PIPELINE")
	return cmd
}

func newApproveCommand(t *target) *cobra.Command {
	return action(t, &cobra.Command{
		Use: "approve [STAGE]", Short: "Approve a stage that waits for it", Args: cobra.MaximumNArgs(1),
		Example: "  pipedeck approve\n  pipedeck approve WAIT_APPROVAL",
	}, func(ctx context.Context, deck deckv1.DeckServiceClient, s *snapshot, name string) (string, error) {
		d, stage, err := s.waitingStage(name, (*deckv1.Stage).GetCanApprove, "approved")
		if err != nil {
			return "", err
		}
		_, err = deck.ApproveStage(ctx, &deckv1.ApproveStageRequest{DeploymentId: d.Id, StageId: stage.Id, Commander: commander()})
		return "approved " + stage.Name + " of " + d.ApplicationName, err
	})
}

func newSkipCommand(t *target) *cobra.Command {
	return action(t, &cobra.Command{
		Use: "skip STAGE", Short: "End a running stage that allows it", Args: cobra.ExactArgs(1),
		Example: "  pipedeck skip WAIT",
	}, func(ctx context.Context, deck deckv1.DeckServiceClient, s *snapshot, name string) (string, error) {
		d, stage, err := s.waitingStage(name, (*deckv1.Stage).GetCanSkip, "skipped")
		if err != nil {
			return "", err
		}
		_, err = deck.SkipStage(ctx, &deckv1.SkipStageRequest{DeploymentId: d.Id, StageId: stage.Id, Commander: commander()})
		return "skipped " + stage.Name + " of " + d.ApplicationName, err
	})
}

func newCancelCommand(t *target) *cobra.Command {
	var with, without bool
	cmd := action(t, &cobra.Command{
		Use: "cancel DEPLOYMENT|APP", Short: "Stop a deployment that has not ended", Args: cobra.ExactArgs(1),
		Long: "Stop a deployment, named by its id or the beginning of it, or by its application when only one of it is under way.\n" +
			"What was done is then rolled back as the application says: planner.autoRollback, true unless it is set.",
		Example: "  pipedeck cancel 3f2b\n  pipedeck cancel hello-world --no-rollback",
	}, func(ctx context.Context, deck deckv1.DeckServiceClient, s *snapshot, name string) (string, error) {
		d, err := s.running(name)
		if err != nil {
			return "", err
		}
		request := &deckv1.CancelDeploymentRequest{DeploymentId: d.Id, Commander: commander()}
		how := ""
		switch {
		case with:
			request.Rollback, how = deckv1.CancelDeploymentRequest_ROLLBACK_FORCED, " and to roll it back"
		case without:
			request.Rollback, how = deckv1.CancelDeploymentRequest_ROLLBACK_NONE, " without a rollback"
		}
		_, err = deck.CancelDeployment(ctx, request)
		return "asked to cancel the deployment of " + d.ApplicationName + how, err
	})
	cmd.Flags().BoolVar(&with, "rollback", false, "roll back, also without planner.autoRollback")
	cmd.Flags().BoolVar(&without, "no-rollback", false, "leave things as they are then, also with planner.autoRollback")
	cmd.MarkFlagsMutuallyExclusive("rollback", "no-rollback")
	return cmd
}

func newRestartCommand(t *target) *cobra.Command {
	var of string
	cmd := action(t, &cobra.Command{
		Use: "restart PLUGIN", Short: "Stop a plugin process and start it again", Args: cobra.ExactArgs(1),
		Example: "  pipedeck restart kubernetes\n  pipedeck restart wait --piped second",
	}, func(ctx context.Context, deck deckv1.DeckServiceClient, s *snapshot, name string) (string, error) {
		p, err := s.plugin(name, of)
		if err != nil {
			return "", err
		}
		_, err = deck.RestartPlugin(ctx, &deckv1.RestartPluginRequest{Name: name, PipedId: p.PipedId})
		return "asked to restart plugin " + s.PluginName(p), err
	})
	cmd.Flags().StringVar(&of, "piped", "", "name or id of the piped that runs the plugin, where several do")
	return cmd
}
