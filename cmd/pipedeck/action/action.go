// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/document"
)

// act asks the environment for what a command line says, and returns what was done.
type act func(ctx context.Context, s *session.Session, l *resolve.Line) (document.Action, error)

// action completes a subcommand that finds something in the state and asks the environment to act.
func action(t *session.Target, cmd *cobra.Command, do act) *cobra.Command {
	var output format.Output
	name := cmd.Name()
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return t.Run(cmd, func(ctx context.Context, s *session.Session) error {
			done, err := do(ctx, s, resolve.NewChange(s, cmd, args))
			if err != nil {
				return session.Refusal(err)
			}
			done.Head, done.Action = document.NewHead(), name
			if output.Machine() {
				err = output.Document(s.Out, done)
			} else {
				_, err = fmt.Fprintln(s.Out, done.Text)
			}
			if err != nil || done.Unanswered == "" {
				return err
			}
			return exit.With(exit.TimedOut, errors.New(done.Unanswered),
				"see why: pipedeck status; the request is kept, and piped deploys once it can")
		})
	}
	format.AddFlag(cmd, &output)
	return cmd
}

// onApplication is an action on an application.
func onApplication(app *deckv1.Application) document.Action {
	return document.Action{App: app.GetName(), AppID: app.GetId()}
}

// onDeployment is an action on a deployment.
func onDeployment(d *deckv1.Deployment) document.Action {
	return document.Action{App: d.GetApplicationName(), AppID: d.GetApplicationId(), Deployment: d.GetId()}
}

// checkStrategy refuses a strategy that does not exist.
func checkStrategy(name string) error {
	if slices.Contains([]string{"AUTO", "QUICK_SYNC", "PIPELINE"}, name) {
		return nil
	}
	return exit.Usage(fmt.Errorf("--strategy %q is unknown", name), "use AUTO, QUICK_SYNC or PIPELINE")
}

func newCancelCommand(t *session.Target) *cobra.Command {
	var with, without bool
	cmd := action(t, &cobra.Command{
		Use: "cancel DEPLOYMENT|APP", Short: "Stop a deployment that has not ended", Args: cobra.ExactArgs(1),
		Long: "Stop a deployment, given by its id or the beginning of its id, or by its application when only one " +
			"is running.\n" +
			"The deployment is then rolled back if the application has planner.autoRollback, which is the default.",
		Example: "  pipedeck cancel 3f2b\n  pipedeck cancel hello-world --no-rollback",
	}, func(ctx context.Context, s *session.Session, l *resolve.Line) (document.Action, error) {
		d, err := l.Argument(0).Running()
		if err != nil {
			return document.Action{}, err
		}
		request := &deckv1.CancelDeploymentRequest{DeploymentId: d.Id, Commander: session.Commander()}
		how := ""
		switch {
		case with:
			request.Rollback, how = deckv1.CancelDeploymentRequest_ROLLBACK_FORCED, " and to roll it back"
		case without:
			request.Rollback, how = deckv1.CancelDeploymentRequest_ROLLBACK_NONE, " without a rollback"
		}
		answer, err := s.Deck.CancelDeployment(ctx, request)
		done := onDeployment(d)
		done.Command, done.Text = answer.GetCommandId(), "asked to cancel the deployment of "+d.ApplicationName+how
		return done, err
	})
	cmd.Flags().BoolVar(&with, "rollback", false, "roll back, also without planner.autoRollback")
	cmd.Flags().BoolVar(&without, "no-rollback", false,
		"leave things as they are then, also with planner.autoRollback; PipeCD's own piped rolls back all the same")
	cmd.MarkFlagsMutuallyExclusive("rollback", "no-rollback")
	return cmd
}

func newRestartCommand(t *session.Target) *cobra.Command {
	var of string
	cmd := action(t, &cobra.Command{
		Use: "restart PLUGIN", Short: "Stop a plugin process and start it again", Args: cobra.ExactArgs(1),
		Long: "Stop a plugin process and start it again. A process that goes on because its changed program does not " +
			"start\nis not stopped: the error has the reason.",
		Example: "  pipedeck restart kubernetes\n  pipedeck restart wait --piped second\n" +
			"  pipedeck restart second/wait",
	}, func(ctx context.Context, s *session.Session, l *resolve.Line) (document.Action, error) {
		p, err := l.Argument(0).Plugin(of)
		if err != nil {
			return document.Action{}, err
		}
		_, err = s.Deck.RestartPlugin(ctx, &deckv1.RestartPluginRequest{Name: p.Name, PipedId: p.PipedId})
		if err != nil {
			return document.Action{}, session.Unreachable(err)
		}
		return document.Action{Plugin: p.GetName(), Piped: p.GetPipedId(),
			Text: "asked to restart plugin " + s.State.PluginName(p)}, nil
	})
	cmd.Flags().StringVar(&of, "piped", "", "name or id of the piped that runs the plugin, where several do")
	return cmd
}
