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
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/state"
)

// action completes a subcommand that finds something in the state and asks the environment to act; act returns the line
// that says what was done.
func action(t *session.Target, cmd *cobra.Command,
	act func(ctx context.Context, s *session.Session, args []string) (done string, err error)) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return t.Run(cmd, func(ctx context.Context, s *session.Session) error {
			done, err := act(ctx, s, args)
			if err != nil {
				return session.Refusal(err)
			}
			_, err = fmt.Fprintln(s.Out, done)
			return err
		})
	}
	return cmd
}

// checkStrategy refuses a strategy that does not exist.
func checkStrategy(name string) error {
	if slices.Contains([]string{"AUTO", "QUICK_SYNC", "PIPELINE"}, name) {
		return nil
	}
	return exit.Usage(fmt.Errorf("--strategy %q is unknown", name), "use AUTO, QUICK_SYNC or PIPELINE")
}

func newApproveCommand(t *session.Target) *cobra.Command {
	var as string
	cmd := action(t, &cobra.Command{
		Use: "approve [APP] [STAGE]", Short: "Approve a waiting stage", Args: cobra.MaximumNArgs(2),
		Long: "Approve a waiting stage: the only one, or the stage with this id or type of this application.\n" +
			"A single argument is an application or a stage.\n" +
			"A stage with named approvers accepts only their approval; --as approves as one of them.\n" +
			"The stage keeps which user approved.",
		Example: "  pipedeck approve\n  pipedeck approve hello-world\n" +
			"  pipedeck approve hello-world approve --as alice",
	}, func(ctx context.Context, s *session.Session, args []string) (string, error) {
		return approveStage(ctx, s, args, as)
	})
	cmd.Flags().StringVar(&as, "as", "", "approve in the `NAME` of one of the stage's approvers (default: your "+
		"user name)")
	return cmd
}

// approveStage approves the stage that the arguments name, in the name of as unless that is empty.
func approveStage(ctx context.Context, s *session.Session, args []string, as string) (string, error) {
	w, err := approving(s.Flags).find(s.State, args)
	if err != nil {
		return "", err
	}
	name := cmp.Or(as, session.Commander())
	if approvers := w.stage.GetApprovers(); len(approvers) > 0 && !slices.Contains(approvers, name) {
		return "", w.namedApprovers(name)
	}
	done := "approved " + state.StageWord(w.stage) + " of " + w.deployment.GetApplicationName()
	if as != "" {
		done += " as " + as
	}
	_, err = s.Deck.ApproveStage(ctx, &deckv1.ApproveStageRequest{
		DeploymentId: w.deployment.GetId(), StageId: w.stage.GetId(), Commander: name, User: session.Commander(),
	})
	return done, err
}

func newSkipCommand(t *session.Target) *cobra.Command {
	return action(t, &cobra.Command{
		Use: "skip [APP] STAGE", Short: "End a running stage that allows it", Args: cobra.RangeArgs(1, 2),
		Long: "End a running stage that can be skipped, given by its id or type. Name the application too when\n" +
			"such stages run in several. The application alone is enough when one of its stages can be " +
			"skipped.",
		Example: "  pipedeck skip WAIT\n  pipedeck skip hello-world wait",
	}, func(ctx context.Context, s *session.Session, args []string) (string, error) {
		w, err := skipping(s.Flags).find(s.State, args)
		if err != nil {
			return "", err
		}
		_, err = s.Deck.SkipStage(ctx, &deckv1.SkipStageRequest{DeploymentId: w.deployment.GetId(),
			StageId: w.stage.GetId(), Commander: session.Commander()})
		return "skipped " + state.StageWord(w.stage) + " of " + w.deployment.GetApplicationName(), err
	})
}

func newCancelCommand(t *session.Target) *cobra.Command {
	var with, without bool
	cmd := action(t, &cobra.Command{
		Use: "cancel DEPLOYMENT|APP", Short: "Stop a deployment that has not ended", Args: cobra.ExactArgs(1),
		Long: "Stop a deployment, given by its id or the beginning of its id, or by its application when only one " +
			"is running.\n" +
			"The deployment is then rolled back if the application has planner.autoRollback, which is the default.",
		Example: "  pipedeck cancel 3f2b\n  pipedeck cancel hello-world --no-rollback",
	}, func(ctx context.Context, s *session.Session, args []string) (string, error) {
		d, err := s.State.FindRunning(args[0], s.Flags)
		if err != nil {
			return "", err
		}
		request := &deckv1.CancelDeploymentRequest{DeploymentId: d.Id, Commander: session.Commander()}
		how := ""
		switch {
		case with:
			request.Rollback, how = deckv1.CancelDeploymentRequest_ROLLBACK_FORCED, " and to roll it back"
		case without:
			request.Rollback, how = deckv1.CancelDeploymentRequest_ROLLBACK_NONE, " without a rollback"
		}
		_, err = s.Deck.CancelDeployment(ctx, request)
		return "asked to cancel the deployment of " + d.ApplicationName + how, err
	})
	cmd.Flags().BoolVar(&with, "rollback", false, "roll back, also without planner.autoRollback")
	cmd.Flags().BoolVar(&without, "no-rollback", false, "leave things as they are then, also with planner.autoRollback")
	cmd.MarkFlagsMutuallyExclusive("rollback", "no-rollback")
	return cmd
}

func newRestartCommand(t *session.Target) *cobra.Command {
	var of string
	cmd := action(t, &cobra.Command{
		Use: "restart PLUGIN", Short: "Stop a plugin process and start it again", Args: cobra.ExactArgs(1),
		Long: "Stop a plugin process and start it again. A process that goes on because its changed binary does not " +
			"start\nis not stopped: the error has the reason.",
		Example: "  pipedeck restart kubernetes\n  pipedeck restart wait --piped second",
	}, func(ctx context.Context, s *session.Session, args []string) (string, error) {
		p, err := s.State.FindPlugin(args[0], of)
		if err != nil {
			return "", err
		}
		_, err = s.Deck.RestartPlugin(ctx, &deckv1.RestartPluginRequest{Name: p.Name, PipedId: p.PipedId})
		if err != nil {
			return "", session.Unreachable(err)
		}
		return "asked to restart plugin " + s.State.PluginName(p), nil
	})
	cmd.Flags().StringVar(&of, "piped", "", "name or id of the piped that runs the plugin, where several do")
	return cmd
}
