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
	"github.com/pipedeck/pipedeck/cmd/pipedeck/prompt"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/state"
)

func newRemoveCommand(t *session.Target) *cobra.Command {
	var cascade, orphan bool
	cmd := action(t, &cobra.Command{
		Use: "remove APP", Short: "Remove an application that is gone from Git", Args: cobra.ExactArgs(1),
		Long: "Remove an application whose configuration was deleted in Git, with or without what it has deployed." +
			"\n\nWith --cascade, a separate deployment deletes what the application has deployed; the " +
			"application goes when that\nhas succeeded. Without a flag the command asks on a terminal. An " +
			"application that is still in Git is not removed:\nthe next commit would deploy it again.\n\n" +
			"Exit code 0: removed, now or before, or piped has created the deployment; 1: refused; 4: piped has not " +
			"answered.\nThe request is kept then.",
		Example: "  pipedeck remove hello-world --cascade\n  pipedeck remove hello-world --orphan",
	}, func(ctx context.Context, s *session.Session, l *resolve.Line) (document.Action, error) {
		return removeApplication(ctx, s, l, cascade)
	})
	cmd.Flags().BoolVar(&cascade, "cascade", false, "delete what the application has deployed, too")
	cmd.Flags().BoolVar(&orphan, "orphan", false, "only forget the application; what runs stays")
	cmd.MarkFlagsMutuallyExclusive("cascade", "orphan")
	remove := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !cascade && !orphan {
			if err := confirmCascade(t, cmd, args); err != nil {
				return err
			}
			cascade = true
		}
		return remove(cmd, args)
	}
	return cmd
}

// confirmCascade asks a user who has given no flag, outside of a session: an answer takes its time.
func confirmCascade(t *session.Target, cmd *cobra.Command, args []string) error {
	var question, cascade, orphan string
	err := t.Run(cmd, func(_ context.Context, s *session.Session) error {
		line := resolve.NewChange(s, cmd, args)
		app, err := line.Argument(0).Application()
		if err != nil {
			return err
		}
		if app.GetSync() != deckv1.SyncStatus_SYNC_STATUS_ORPHANED {
			return inGit(app)
		}
		question = fmt.Sprintf("%s is not in Git any more; delete it and what it has deployed (%s)", app.GetName(),
			resources(app))
		command := "pipedeck remove " + app.GetName() + s.Flags
		cascade, orphan = command+" --cascade", command+" --orphan"
		return nil
	})
	if err != nil {
		return err
	}
	next := "delete what it has deployed, too: " + cascade + "; keep what runs: " + orphan
	yes, err := prompt.Confirm(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), question)
	switch {
	case errors.Is(err, prompt.ErrNoTerminal):
		return exit.Usage(errors.New("remove needs --cascade or --orphan: "+err.Error()), next)
	case err != nil:
		return err
	case !yes:
		return exit.With(exit.Failed, errors.New("nothing was removed"), next)
	}
	return nil
}

// resources counts what an application has in its deploy targets.
func resources(app *deckv1.Application) string {
	counts := app.GetResources()
	switch total := counts.GetTotal(); {
	case total == 1:
		return "1 resource"
	case total > 1:
		return fmt.Sprintf("%d resources", total)
	}
	return "its resources are not known"
}

// inGit is why an application is not removed that Git still has.
func inGit(app *deckv1.Application) error {
	return exit.With(exit.Failed, fmt.Errorf("%s is still in Git, so that the next commit would deploy it again",
		app.GetName()), "delete "+app.GetPath()+"/"+app.GetConfigFilename()+" in Git and commit that first")
}

// removeApplication removes an application, all of it with cascade.
func removeApplication(
	ctx context.Context, s *session.Session, l *resolve.Line, cascade bool,
) (document.Action, error) {
	app, err := l.Argument(0).Application()
	if gone, is := errors.AsType[*resolve.RemovedError](err); is {
		done := onDeployment(gone.Deployment)
		done.Deployment, done.Text = "", done.App+" is removed already"
		return done, nil
	}
	if err != nil {
		return document.Action{}, err
	}
	if app.GetSync() != deckv1.SyncStatus_SYNC_STATUS_ORPHANED && !app.GetDisabled() && !app.GetDeploying() {
		return document.Action{}, inGit(app)
	}
	behind := heldBy(s.State, app)
	answer, err := s.Deck.RemoveApplication(ctx, &deckv1.RemoveApplicationRequest{
		ApplicationId: app.GetId(), Delete: cascade, Commander: session.Commander(),
	})
	if err != nil {
		return document.Action{}, session.Unreachable(err)
	}
	done := onApplication(app)
	done.Command, done.Deployment, done.Unanswered = answer.GetCommandId(), answer.GetDeploymentId(),
		answer.GetUnanswered()
	switch {
	case done.Command == "":
		done.Text = "removed " + app.GetName()
		if !cascade {
			done.Text += "; what it has deployed still runs"
		}
	case done.Deployment == "":
		done.Text = "asked to delete what " + app.GetName() + " has deployed, and then to remove it" + behind
	default:
		done.Text = "deleting what " + app.GetName() + " has deployed, by deployment " + done.Deployment +
			"; the application is removed when that has succeeded" + behind
	}
	return done, nil
}

// heldBy says which deployment of an application a removal has to wait for, and what ends that one; empty for none.
// Deployments of one application run one after the other, so that one which waits for a user holds the others up.
func heldBy(s *session.State, app *deckv1.Application) string {
	for _, d := range slices.Backward(s.Deployments(app.GetId())) { // the oldest first
		if state.Ended(d.GetStatus()) {
			continue
		}
		for _, stage := range d.GetStages() {
			if stage.GetCanApprove() {
				return fmt.Sprintf("; it begins after deployment %[1]s, whose stage %[2]s waits to be approved: "+
					"approve that, or end it with: pipedeck cancel %[1]s", d.GetId(), state.StageWord(stage))
			}
		}
		return "; it begins after the end of deployment " + d.GetId()
	}
	return ""
}
