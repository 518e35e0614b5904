// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
	"github.com/pipedeck/pipedeck/devenv/player"
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

// exportFlags are the flags of export.
type exportFlags struct {
	output format.Output
	// from is the file of a session that is exported in place of an environment.
	from string
	film filmFlags
}

func newExportCommand(t *session.Target) *cobra.Command {
	f := &exportFlags{}
	cmd := &cobra.Command{
		Use: "export [FILE]", Short: "Write an environment to a file or a picture", Args: cobra.MaximumNArgs(1),
		Long: `Write what an environment shows to a file, for a bug report: applications, deployments with their stages
and logs, plugins, live resources. Secrets are masked as in the UI. "pipedeck replay FILE" shows it, on
any machine.

Of an environment that has stopped, the file has what its history has: no plugins and no live resources.
Nothing is started, and the history stays as it is.

--svg writes a picture of the terminal UI, --cast a recording of the terminal (asciicast v2) that a web
page or asciinema plays. With --from they show a session that was recorded with --record: the same file
with the same options is always the same picture. Without --from, --cast records the environment until
Ctrl-C, or as long as --for says.

To record what happens from now on, use "pipedeck attach --record FILE".`,
		Example: `  pipedeck export report.pipedeck
  pipedeck export report.pipedeck -o json
  pipedeck export --svg now.svg
  pipedeck export --cast - --for 30s > now.cast
  pipedeck export --from tour.pipedeck --cast tour.cast --columns 100 --rows 30
  pipedeck export --from tour.pipedeck --svg approval.svg --at 12s`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(args); err != nil {
				return err
			}
			exported, err := f.run(cmd.Context(), t, args)
			if err != nil {
				return explainFullDisk(err)
			}
			if err := f.print(cmd, exported); err != nil {
				return err
			}
			return f.film.cut.failure
		},
	}
	cmd.Flags().StringVar(&f.from, "from", "", "show the recorded session in `FILE`, not an environment")
	f.film.register(cmd)
	format.AddFlag(cmd, &f.output)
	return cmd
}

// print prints what was written.
func (f *exportFlags) print(cmd *cobra.Command, exported *document.Exported) error {
	switch {
	case f.output.Machine():
		return f.output.Document(cmd.OutOrStdout(), exported)
	case f.film.piped():
		return printExported(cmd.ErrOrStderr(), exported)
	default:
		return printExported(cmd.OutOrStdout(), exported)
	}
}

// explainFullDisk gives the error of a full disk the code and the next step of a file that was not written.
func explainFullDisk(err error) error {
	if output := (*exit.OutputError)(nil); errors.As(err, &output) {
		return err
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return exit.With(exit.Unwritten, err, "free space on that disk, then run it again")
	}
	return err
}

// check finds flags that cannot be right.
func (f *exportFlags) check(args []string) error {
	switch {
	case len(args) == 0 && !f.film.wanted() && f.from != "":
		return exit.Usage(errors.New("there is nothing to write"), "give --svg FILE or --cast FILE")
	case len(args) == 0 && !f.film.wanted():
		return exit.Usage(errors.New("there is nothing to write"), "name a FILE, or give --svg FILE or --cast FILE")
	case f.film.piped() && f.output.Machine():
		return exit.Usage(errors.New("standard output cannot have both a picture or a recording and JSON"),
			"name a FILE in place of -, or leave -o out")
	case len(args) == 1 && f.from != "":
		return exit.Usage(fmt.Errorf("%s is a recorded session already", f.from),
			"leave FILE out, or copy the session")
	}
	for _, path := range args {
		if err := checkSessionPath(path); err != nil {
			return err
		}
	}
	return f.film.check(f.from)
}

// run writes what the flags ask for.
func (f *exportFlags) run(ctx context.Context, t *session.Target, args []string) (*document.Exported, error) {
	if f.from != "" {
		recorded, err := openSession(f.from)
		if err != nil {
			return nil, err
		}
		exported := &document.Exported{Head: document.NewHead(), Environment: recorded.Header.GetEnvironment(),
			Missing: []string{}}
		if length := player.NewReel(recorded).Length(); f.film.at > length {
			return nil, exit.Usage(fmt.Errorf("--at %v is after the end of the session", f.film.at),
				fmt.Sprintf("give a time up to %v", length))
		}
		if recorded.Missing != "" {
			exported.Missing = append(exported.Missing, recorded.Missing)
		}
		return exported, f.film.write(ctx, recorded, exported)
	}
	source, err := openExported(ctx, t)
	if err != nil {
		return nil, err
	}
	defer source.close()
	exported := &document.Exported{Head: document.NewHead(), Environment: t.Name, Running: source.running,
		Missing: append([]string{}, source.missing...)}
	if len(args) == 1 {
		if err := source.export(ctx, exported, args[0]); err != nil {
			return nil, err
		}
	}
	if !f.film.wanted() {
		return exported, nil
	}
	recorded, err := source.film(ctx, &f.film)
	if err != nil {
		return nil, err
	}
	if f.film.cut.missing != "" {
		exported.Missing = append(exported.Missing, f.film.cut.missing)
	}
	return exported, f.film.write(context.WithoutCancel(ctx), recorded, exported)
}

// exportSource is what is exported.
type exportSource struct {
	workspace *workspace.Workspace
	deck      deckv1.DeckServiceClient
	// missing is why the state is not complete, as clauses; nil when it is.
	missing []string
	running bool
	close   func()
}

// openExported reaches the environment, or opens its history when it does not run.
func openExported(ctx context.Context, t *session.Target) (*exportSource, error) {
	w, err := t.Workspace()
	if err != nil {
		return nil, err
	}
	deck, conn, err := t.Connect(ctx)
	if err == nil {
		return &exportSource{workspace: w, deck: deck, running: true, close: func() { _ = conn.Close() }}, nil
	}
	if stopped := (*session.NotRunningError)(nil); !errors.As(err, &stopped) {
		return nil, err
	}
	source, keptErr := openKept(w)
	if errors.Is(keptErr, fs.ErrNotExist) {
		return nil, err // there is no such environment, or it has kept nothing
	}
	return source, keptErr
}

// openKept opens the history of an environment that does not run.
func openKept(w *workspace.Workspace) (*exportSource, error) {
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
	source := &exportSource{workspace: w, missing: []string{notKept}}
	if damage != "" {
		source.missing = append(source.missing, damage)
	}
	source.deck, source.close, err = serveSession(api)
	return source, err
}

// export writes the file and reads it again.
func (s *exportSource) export(ctx context.Context, exported *document.Exported, path string) error {
	file, err := createSession(path)
	if err != nil {
		return err
	}
	if err := s.snapshot(ctx, file, exported.Environment); err != nil {
		return errors.Join(err, file.discard())
	}
	size, err := file.close()
	if err != nil {
		return err
	}
	written, err := openSession(path)
	if err != nil {
		return err
	}
	exported.File, exported.Bytes = path, size
	count(exported, written)
	return nil
}

// snapshot writes the present state to a file.
func (s *exportSource) snapshot(ctx context.Context, file *sessionFile, name string) error {
	bounded, cancel := context.WithTimeout(ctx, exportTimeout)
	defer cancel()
	err := file.snapshot(bounded, s.deck, name, strings.Join(s.missing, "; "))
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		err = exit.With(exit.NotStarted, fmt.Errorf("environment %q does not answer", name),
			"try again; what it is doing is in logs/host.log in its directory")
	}
	return exit.Explain(ctx, err)
}

// film records what --svg or --cast show: the present state, or what happens until ctx ends or as long as --for says.
func (s *exportSource) film(ctx context.Context, f *filmFlags) (*sessionfile.Session, error) {
	dir, err := os.MkdirTemp("", "pipedeck-film-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "session")
	file, err := createSession(path)
	if err != nil {
		return nil, err
	}
	if f.cast == "" || !s.running {
		err = s.snapshot(ctx, file, s.workspace.Name)
	} else {
		f.cut, err = recordFor(ctx, s.workspace, file, f.length)
	}
	if _, closeErr := file.close(); errors.Join(err, closeErr) != nil {
		return nil, errors.Join(err, closeErr)
	}
	return openSession(path)
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
	var said strings.Builder
	for _, missing := range e.Missing {
		fmt.Fprintf(&said, "not complete: %s\n", text.Clean(missing))
	}
	if e.File != "" {
		fmt.Fprintf(&said, "wrote %s (%s, %s, %s)\n  look at it:   pipedeck replay %s\n", text.Clean(e.File),
			view.Bytes(uint64(e.Bytes)), view.Count(e.Applications, "application"),
			view.Count(e.Deployments, "deployment"),
			text.ShellWord(e.File))
	}
	for _, file := range []string{e.Cast, e.SVG} {
		if file != "" && file != standardOutput {
			fmt.Fprintf(&said, "wrote %s\n", text.Clean(file))
		}
	}
	_, err := io.WriteString(out, said.String())
	return err
}
