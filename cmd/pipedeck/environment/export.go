// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
	"github.com/pipedeck/pipedeck/devenv/sessionfile"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

// exportTimeout bounds how long the state may take to be read.
const exportTimeout = 2 * time.Minute

// notKept is what the history of a stopped environment does not have, for users.
const notKept = "exported after the environment had stopped, without plugins and live resources"

func newExportCommand(t *session.Target) *cobra.Command {
	var output format.Output
	cmd := &cobra.Command{
		Use: "export FILE", Short: "Write the state of an environment to a file", Args: cobra.ExactArgs(1),
		Long: `Write what an environment shows to a file, for a bug report: applications, deployments with their stages
and logs, plugins, live resources. Secrets are masked as in the UI. "pipedeck replay FILE" shows it, on
any machine.

Of an environment that has stopped, the file has what its history has: no plugins and no live resources.
Nothing is started, and the history stays as it is.

To record what happens from now on, use "pipedeck attach --record FILE".`,
		Example: "  pipedeck export report.pipedeck\n  pipedeck export report.pipedeck -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			source, err := openExported(cmd.Context(), t)
			if err != nil {
				return err
			}
			defer source.close()
			exported, err := source.export(cmd.Context(), t.Name, args[0])
			if err != nil {
				return err
			}
			if output.Machine() {
				return output.Document(cmd.OutOrStdout(), exported)
			}
			return printExported(cmd.OutOrStdout(), exported)
		},
	}
	format.AddFlag(cmd, &output)
	return cmd
}

// exportSource is what is exported.
type exportSource struct {
	deck deckv1.DeckServiceClient
	// missing is why the state is not complete, as clauses; nil when it is.
	missing []string
	running bool
	close   func()
}

// openExported reaches the environment, or opens its history when it does not run.
func openExported(ctx context.Context, t *session.Target) (*exportSource, error) {
	deck, conn, err := t.Connect(ctx)
	if err == nil {
		return &exportSource{deck: deck, running: true, close: func() { _ = conn.Close() }}, nil
	}
	if stopped := (*session.NotRunningError)(nil); !errors.As(err, &stopped) {
		return nil, err
	}
	source, keptErr := openKept(t)
	if errors.Is(keptErr, fs.ErrNotExist) {
		return nil, err // there is no such environment, or it has kept nothing
	}
	return source, keptErr
}

// openKept opens the history of an environment that does not run.
func openKept(t *session.Target) (*exportSource, error) {
	w, err := t.Workspace()
	if err != nil {
		return nil, err
	}
	if err := w.Check(); err != nil {
		return nil, err
	}
	described := &deckv1.Environment{Name: w.Name, StateDir: w.Dir}
	if last, err := w.LastRun(); err == nil {
		described.StartedAt = timestamppb.New(last.StartedAt)
		described.ClusterKind = last.Clusters[workspace.TargetName]
	}
	api, damage, err := controlplane.Kept(w.History(), workspace.ProjectID, w.PipedID(), described)
	if err != nil {
		return nil, err
	}
	source := &exportSource{missing: []string{notKept}}
	if damage != "" {
		source.missing = append(source.missing, damage)
	}
	source.deck, source.close, err = serveSession(api)
	return source, err
}

// export writes the file and reads it again.
func (s *exportSource) export(ctx context.Context, name, path string) (*document.Exported, error) {
	file, err := createSession(path)
	if err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, exportTimeout)
	defer cancel()
	if err := file.snapshot(bounded, s.deck, name, strings.Join(s.missing, "; ")); err != nil {
		if bounded.Err() != nil && ctx.Err() == nil {
			err = exit.With(exit.NotStarted, fmt.Errorf("environment %q does not answer", name),
				"try again; what it is doing is in logs/host.log in its directory")
		}
		return nil, exit.Explain(ctx, errors.Join(err, file.discard()))
	}
	size, err := file.close()
	if err != nil {
		return nil, err
	}
	written, err := openSession(path)
	if err != nil {
		return nil, err
	}
	exported := &document.Exported{Head: document.NewHead(), File: path, Environment: name, Running: s.running,
		Bytes: size, Missing: append([]string{}, s.missing...)}
	count(exported, written)
	return exported, nil
}

// count fills in how much a session has.
func count(exported *document.Exported, written *sessionfile.Session) {
	applications, deployments := map[string]bool{}, map[string]bool{}
	for _, record := range written.Records {
		event := record.GetEvent()
		switch {
		case event.GetApplication() != nil:
			applications[event.GetApplication().GetId()] = true
		case event.GetDeployment() != nil:
			deployments[event.GetDeployment().GetId()] = true
		}
	}
	exported.Applications, exported.Deployments = len(applications), len(deployments)
	exported.Events = len(written.Records)
}

func printExported(out io.Writer, e *document.Exported) error {
	for _, missing := range e.Missing {
		if _, err := fmt.Fprintf(out, "not complete: %s\n", text.Clean(missing)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "wrote %s (%s, %s, %s)\n  look at it:   pipedeck replay %s\n", text.Clean(e.File),
		view.Bytes(uint64(e.Bytes)), counted(e.Applications, "application"), counted(e.Deployments, "deployment"),
		text.ShellWord(e.File))
	return err
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
