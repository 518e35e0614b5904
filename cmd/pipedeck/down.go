// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/kind"
	"github.com/pipedeck/pipedeck/devenv/env"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// downTimeout covers the grace of every child of an environment and the removal of its clusters,
// which a container engine that is busy may take long for.
const downTimeout = 3 * time.Minute

func newDownCommand(t *target) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "down", Short: "Stop and remove what up made", Args: cobra.NoArgs,
		Long:    "Stop the environment and remove its cluster, its data and its sample repository.\nA repository of your own is left as it is.",
		Example: "  pipedeck down\n  pipedeck down --name demo\n  pipedeck down --all",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !all {
				w, err := t.workspace()
				if err != nil {
					return err
				}
				return explain(cmd.Context(), tearDown(cmd.Context(), w, cmd.OutOrStdout()))
			}
			root, err := t.root()
			if err != nil {
				return err
			}
			found, err := workspace.List(root)
			if err != nil {
				return err
			}
			if len(found) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "there is no environment")
			}
			var failures []error
			for _, w := range found {
				if err := tearDown(cmd.Context(), w, cmd.OutOrStdout()); err != nil {
					failures = append(failures, fmt.Errorf("environment %q: %w", w.Name, err))
				}
			}
			if len(failures) == 0 {
				return nil
			}
			return &exitError{exitFailed, errors.Join(failures...), "run pipedeck down --name NAME for each that is left"}
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every environment below the state directory")
	return cmd
}

// tearDown ends and removes one environment, running or not.
func tearDown(ctx context.Context, w *workspace.Workspace, out io.Writer) error {
	if !w.Exists() {
		fmt.Fprintf(out, "there is no environment %q\n", w.Name)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, downTimeout)
	defer cancel()
	alive, err := w.Alive()
	if err != nil {
		return err
	}
	if alive {
		fmt.Fprintf(out, "stopping environment %q\n", w.Name)
		if err := askToEnd(ctx, w); err != nil {
			return err
		}
	}
	lock, err := awaitEnd(ctx, w)
	if err != nil {
		return err
	}
	defer lock.Release()
	env.EndOrphans(ctx, w)
	if err := kind.DeleteRecorded(ctx, w); err != nil {
		return notDeleted(w, err)
	}
	if err := w.Remove(); err != nil {
		return err
	}
	fmt.Fprintf(out, "environment %q is gone\n", w.Name)
	return nil
}

// notDeleted says that the directory stays: it alone tells the next attempt what is left.
func notDeleted(w *workspace.Workspace, err error) error {
	hint := "run pipedeck down again"
	var known *cluster.HintError
	if errors.As(err, &known) {
		hint = known.Hint
	}
	return &exitError{exitFailed, fmt.Errorf("%w\nthe environment's directory %s is kept until its clusters are deleted", err, w.Dir), hint}
}

// askToEnd also removes: the running process knows what it made.
func askToEnd(ctx context.Context, w *workspace.Workspace) error {
	deck, conn, err := dial(ctx, w)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := deck.Shutdown(ctx, &deckv1.ShutdownRequest{Remove: true}); err != nil {
		return &exitError{exitFailed, fmt.Errorf("environment %q does not end: %w", w.Name, err), "end its process (see running.json in " + w.Dir + ") and run pipedeck down again"}
	}
	return nil
}

// awaitEnd waits until the process that runs the environment has ended and takes its lock; the
// lock is nil when that process has removed the directory itself.
func awaitEnd(ctx context.Context, w *workspace.Workspace) (*workspace.Lock, error) {
	// The lock is the one sign that no process can forget to give: the kernel drops it. It cannot
	// be waited for together with a context, hence the short pauses.
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		lock, err := w.AcquireExisting()
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil, nil
		case !errors.Is(err, workspace.ErrLocked):
			return lock, err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, &exitError{exitFailed, fmt.Errorf("environment %q has not ended in time", w.Name), "run pipedeck down again"}
		}
	}
}
