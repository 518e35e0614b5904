// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/state"
)

func newCICommand(t *target) *cobra.Command {
	flags := &environmentFlags{}
	var output string
	var timeout time.Duration
	var keep bool
	cmd := &cobra.Command{
		Use: "ci [DIR]", Short: "Deploy everything at HEAD without a UI, report, tear down",
		Args: cobra.MaximumNArgs(1),
		Long: `Bring up a separate environment, deploy every application at HEAD, wait for all of them, tear
the environment down. Exit code 0: all were deployed; 1: a deployment failed; 2: wrong usage or
configuration; 3: the environment could not start; 4: timed out; 5: all were deployed, but a part of
the environment is degraded.`,
		Example: `  pipedeck ci
  pipedeck ci ~/src/my-app --output json
  pipedeck ci --sample hello-world --cluster embedded --timeout 2m`,
		RunE: func(cmd *cobra.Command, args []string) error {
			mode, err := chooseOutput(output, false)
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("name") {
				// Its own, so that it disturbs neither a running environment nor another ci.
				t.name = "ci-" + uuid.NewString()[:8]
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			return finish(mode, explain(ctx, runCI(ctx, t, flags, mode, keep, args)))
		},
	}
	flags.register(cmd)
	cmd.Flags().StringVar(&output, "output", "auto",
		"plain, reader (sentences), json (one event a line); auto is plain")
	limitVar(cmd.Flags(), &timeout, "timeout", 10*time.Minute, "give up after this time")
	cmd.Flags().BoolVar(&keep, "keep", false, "keep cluster and state when leaving; an environment that was there "+
		"before is always kept")
	return cmd
}

func runCI(ctx context.Context, t *target, flags *environmentFlags, mode outputMode, keep bool, args []string) error {
	w, err := t.workspace()
	if err != nil {
		return err
	}
	running, err := hasHolder(ctx, w)
	if err != nil {
		return err
	}
	if running {
		return usageError(fmt.Errorf("environment %q is running", w.Name), "choose another --name, or none")
	}
	// What was there before holds someone's work: only what this run makes is removed.
	existed, err := w.Exists()
	if err != nil {
		return err
	}
	keep = keep || existed
	if err := flags.check(w, args); err != nil {
		return err
	}
	from, err := flags.chooseSource(args)
	if err != nil {
		return err
	}
	if err := w.Create(); err != nil {
		return err
	}
	repository, err := from.open(w)
	if err == nil {
		err = flags.checkApplications(ctx, w, repository)
	}
	if err != nil {
		if !keep {
			err = errors.Join(err, discard(w))
		}
		return err
	}
	return hosted(ctx, t, flags, keep, args, func(ctx context.Context, deck deckv1.DeckServiceClient) error {
		var failed []*deckv1.Deployment
		var broken []*deckv1.Application
		var left string
		err := follow(ctx, deck, mode, os.Stdout, reader.Options{Flags: t.flags(),
			Until: func(d *state.Deck) (settled bool) {
				settled, failed, broken = d.SettledAt(repository.Head)
				left = unfinished(d)
				return settled && len(d.Applications()) >= len(repository.Applications)
			}})
		if err != nil {
			return incomplete(err, left)
		}
		if err := verdict(failed, broken); err != nil {
			return err
		}
		return checkHealth(ctx, deck)
	})
}

// discard removes an environment that this process has created and that no process runs.
func discard(w *workspace.Workspace) error {
	lock, err := w.Acquire()
	if err != nil {
		return err
	}
	return errors.Join(w.Remove(lock), lock.Release())
}

// checkApplications reads every application configuration at HEAD, so that all mistakes are reported
// at once and before anything is started.
func (f *environmentFlags) checkApplications(ctx context.Context, w *workspace.Workspace,
	repository *workspace.Repository) error {
	skipped := repository.SkippedText()
	if skipped != "" && len(repository.Applications) > 0 {
		fmt.Fprintln(os.Stderr, "warning: "+skipped)
	}
	if skipped != "" && len(repository.Applications) == 0 {
		return usageError(fmt.Errorf("%s has no other application at HEAD: %s", repository.Root, skipped),
			"rename the paths and commit that")
	}
	if len(repository.Applications) == 0 {
		return usageError(fmt.Errorf("%s has no application at HEAD", repository.Root),
			"commit an app.pipecd.yaml, or use --sample hello-world")
	}
	checker, err := f.checker(ctx, w)
	if err != nil {
		return err
	}
	if err := repository.CheckApplications(checker); err != nil {
		return usageError(err, "correct the file, commit it, and run again")
	}
	return nil
}

// incomplete is the error of a run that ended with err before all was deployed.
func incomplete(err error, left string) error {
	switch {
	case errors.Is(err, reader.ErrEnded):
		// For whoever asked it to end that is no error, but no one may take it for a success.
		return &exitError{exitInterrupted, errors.New("the environment was ended before everything was deployed"),
			"run it again"}
	case errors.Is(err, context.DeadlineExceeded) && left != "":
		return &exitError{exitTimedOut, fmt.Errorf("timed out: %s", left),
			"fix what it waited for, or give more time with --timeout"}
	default:
		return err
	}
}

// unfinished says what an environment is waiting for: parts that do not work, and those that do not run yet, or else
// deployments.
func unfinished(d *state.Deck) string {
	left := waiting(d)
	for _, p := range d.Problems() {
		left = append(left, fmt.Sprintf("%s is degraded: %s (next step: %s)", p.GetPart(), p.GetReason(),
			p.GetNextStep()))
	}
	return strings.Join(left, "; ")
}

// waiting lists the components that do not run yet, or else the deployments that have not ended.
func waiting(d *state.Deck) (left []string) {
	for _, c := range d.Components() {
		if c.State == deckv1.Component_STATE_STARTING {
			left = append(left, fmt.Sprintf("%s: %s", c.Name, c.Detail))
		}
	}
	if len(left) > 0 {
		return left
	}
	for _, a := range d.Applications() {
		if newest := d.Newest(a.Id); newest != nil && !state.Ended(newest.Status) {
			left = append(left, fmt.Sprintf("%s: %s: %s", a.Name, reader.Name(newest.Status), newest.StatusReason))
		}
	}
	return left
}

func verdict(failed []*deckv1.Deployment, broken []*deckv1.Application) error {
	if len(broken) > 0 {
		return usageError(fmt.Errorf("%s: %s", broken[0].Name, broken[0].SyncReason),
			"correct the file, commit it, and run again")
	}
	if len(failed) == 0 {
		return nil
	}
	var reasons []string
	for _, d := range failed {
		reasons = append(reasons, fmt.Sprintf("%s: %s: %s", d.ApplicationName, reader.Name(d.Status), d.StatusReason))
	}
	return &exitError{exitFailed, errors.New(strings.Join(reasons, "; ")),
		"see the stage logs above; --keep keeps the environment to look at"}
}
