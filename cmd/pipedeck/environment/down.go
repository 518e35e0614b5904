// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/env"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/text"
)

// downTimeout covers the grace of every child of an environment and the removal of its clusters,
// which a container engine that is busy may take long for.
const downTimeout = 3 * time.Minute

func newDownCommand(t *session.Target) *cobra.Command {
	var all bool
	var output format.Output
	cmd := &cobra.Command{
		Use: "down", Short: "Stop and remove what up created", Args: cobra.NoArgs,
		Long: `Stop the environment and remove its cluster, its data and its sample repository.
Your own repository is left as it is. Files and branches of yours in the sample repository are named, and deleted.

Exit code 0: the environment is gone, or there was none; 1: something is left, and the error says what;
2: the directory was not created by pipedeck, and is left as it is.`,
		Example: "  pipedeck down\n  pipedeck down --name demo\n  pipedeck down --all",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if all && cmd.Flags().Changed("name") {
				return exit.Usage(errors.New("give --all or --name, not both"),
					"pipedeck down --name "+text.ShellWord(t.Name)+" removes this environment only")
			}
			said := cmd.OutOrStdout()
			if output.Machine() {
				said = cmd.ErrOrStderr() // the document is all that goes to standard output
			}
			var gone []document.RemovedEnvironment
			var err error
			if all {
				gone, err = tearDownAll(cmd.Context(), t, said, cmd.ErrOrStderr())
			} else {
				gone, err = tearDownOne(cmd.Context(), t, said)
			}
			if output.Machine() && (err == nil || len(gone) > 0) {
				err = errors.Join(err, output.Document(cmd.OutOrStdout(), document.Removal{
					Head: document.NewHead(), Environments: document.List(gone),
				}))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every environment below the state directory")
	format.AddFlag(cmd, &output)
	return cmd
}

// tearDownOne ends and removes the environment that the flags name.
func tearDownOne(ctx context.Context, t *session.Target, out io.Writer) ([]document.RemovedEnvironment, error) {
	w, err := t.Workspace()
	if err != nil {
		return nil, err
	}
	exists, err := w.Exists()
	if err != nil {
		return []document.RemovedEnvironment{removed(w, err)}, exit.Explain(ctx, err)
	}
	err = exit.Explain(ctx, tearDown(ctx, w, out))
	gone := removed(w, err)
	if !exists {
		gone.State = document.NotExisting
	}
	return []document.RemovedEnvironment{gone}, err
}

// removed returns what has become of an environment.
func removed(w *workspace.Workspace, err error) document.RemovedEnvironment {
	if err != nil {
		return document.RemovedEnvironment{Name: w.Name, State: document.Left, Reason: err.Error()}
	}
	return document.RemovedEnvironment{Name: w.Name, State: document.Removed}
}

// tearDownAll ends and removes every environment below the state directory. It reports each failure at once, and
// goes on with the next environment.
func tearDownAll(ctx context.Context, t *session.Target, out, errOut io.Writer) ([]document.RemovedEnvironment,
	error) {
	root, err := t.Root()
	if err != nil {
		return nil, err
	}
	found, others, err := workspace.List(root)
	if err != nil {
		return nil, err
	}
	gone := []document.RemovedEnvironment{}
	if len(found) == 0 {
		fmt.Fprintf(out, "there is no environment in %s\n", root)
	}
	var left []string
	for _, w := range found {
		err := exit.Explain(ctx, tearDown(ctx, w, out))
		gone = append(gone, removed(w, err))
		if err != nil {
			left = append(left, w.Name)
			fmt.Fprintln(errOut, text.Clean(fmt.Sprintf("environment %q is left: %s", w.Name, err)))
			if failure := (*exit.Error)(nil); errors.As(err, &failure) && failure.Hint != "" {
				fmt.Fprintln(errOut, "next step:", failure.Hint)
			}
		}
	}
	for _, dir := range others {
		fmt.Fprintln(errOut, text.Clean(fmt.Sprintf("%s is not an environment that you may remove with pipedeck; "+
			"it is left as it is", dir)))
	}
	switch {
	case len(left) > 0:
		return gone, exit.With(exit.Failed, fmt.Errorf("%d of %d environments are left: %s", len(left), len(found),
			strings.Join(left, ", ")), "run pipedeck down --name NAME for each")
	case len(others) > 0:
		return gone, exit.With(exit.Failed, fmt.Errorf("%d directories in %s are not environments", len(others), root),
			"keep only environments there, or choose another --state-dir")
	case len(found) > 1:
		fmt.Fprintf(out, "all %d environments are gone\n", len(found))
	}
	return gone, nil
}

// noEnvironment says which other environments there are: a user who forgot --name believes otherwise that nothing runs.
func noEnvironment(w *workspace.Workspace, out io.Writer) error {
	fmt.Fprintf(out, "there is no environment %q\n", w.Name)
	found, _, err := workspace.List(filepath.Dir(w.Dir))
	if err != nil || len(found) == 0 {
		return err
	}
	for _, other := range found {
		state := "is kept"
		switch alive, err := other.Alive(); {
		case err != nil:
			state = "cannot be read: " + text.Clean(err.Error())
		case alive:
			state = "is running"
		}
		fmt.Fprintf(out, "environment %q %s; remove it with: pipedeck down%s\n", other.Name, state,
			session.Flags(other))
	}
	return nil
}

// tearDown ends and removes one environment, running or not. It names the user's work that goes with it.
func tearDown(ctx context.Context, w *workspace.Workspace, out io.Writer) error {
	exists, err := w.Exists()
	if err != nil {
		return err
	}
	if !exists {
		return noEnvironment(w, out)
	}
	nameSampleWork(ctx, w, out)
	return endAndRemove(ctx, w, out)
}

// endAndRemove ends and removes an environment that exists, running or not.
func endAndRemove(ctx context.Context, w *workspace.Workspace, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, downTimeout)
	defer cancel()
	alive, err := w.Alive()
	if err != nil {
		return err
	}
	if alive {
		fmt.Fprintf(out, "stopping environment %q\n", w.Name)
		if err := askToEnd(ctx, w, &deckv1.ShutdownRequest{Remove: true}); err != nil {
			return err
		}
	}
	lock, err := awaitEnd(ctx, w)
	if err != nil {
		return err
	}
	if lock != nil {
		defer lock.Release()
		env.EndOrphans(ctx, w)
		if err := deleteKind(ctx, w); err != nil {
			return notDeleted(w, err)
		}
		if err := w.Remove(lock); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "environment %q is gone\n", w.Name)
	return nil
}

// deleteKind deletes the kind clusters that the environment has left.
func deleteKind(ctx context.Context, w *workspace.Workspace) error {
	helper, err := newHelper(w.Path("logs", "helper.log"), nil)
	if err != nil {
		return err
	}
	defer helper.Close()
	return helper.DeleteRecorded(ctx, w)
}

// notDeleted says that the directory stays: it alone shows the next attempt what is left.
func notDeleted(w *workspace.Workspace, err error) error {
	hint := "run again: pipedeck down" + session.Flags(w)
	var known *cluster.HintError
	if errors.As(err, &known) {
		hint = known.Hint
	}
	return exit.With(exit.Failed, fmt.Errorf("%w\nthe environment's directory %s is kept until its clusters are "+
		"deleted", err, w.Dir), hint)
}

// askToEnd asks the process of an environment to end.
func askToEnd(ctx context.Context, w *workspace.Workspace, how *deckv1.ShutdownRequest) error {
	deck, conn, err := session.Dial(ctx, w)
	if err != nil {
		return err
	}
	defer conn.Close()
	bounded, cancel := context.WithTimeout(ctx, session.CallTimeout)
	defer cancel()
	_, err = deck.Shutdown(bounded, how)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case bounded.Err() != nil:
		err = fmt.Errorf("does not answer within %s: its process hangs or is stopped", session.CallTimeout)
	default:
		err = errors.New("does not end: " + status.Convert(err).Message())
	}
	hint := "run again: pipedeck down" + session.Flags(w)
	if running, readErr := w.Published(); readErr == nil {
		hint = fmt.Sprintf("end its process and remove the rest: kill -9 %d; pipedeck down%s", running.PID,
			session.Flags(w))
	}
	return exit.With(exit.Failed, fmt.Errorf("environment %q %w", w.Name, err), hint)
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
			return nil, exit.With(exit.Failed, fmt.Errorf("environment %q has not ended in time", w.Name),
				"run again: pipedeck down"+session.Flags(w))
		}
	}
}
