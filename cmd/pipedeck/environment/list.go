// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/text"
)

func newListCommand(t *session.Target) *cobra.Command {
	var output format.Output
	cmd := &cobra.Command{
		Use: "list", Short: "List the environments on this machine", Args: cobra.NoArgs,
		Long: `List the environments below the state directory: whether each one runs, the repository that it watches,
its clusters, and the address of its control plane. Environments with another --state-dir are not found.

RUNNING, STARTING: its process runs. STOPPED: it was stopped, and its history is kept. KILLED: its process ended
without stopping it; pipedeck up starts it again, pipedeck down removes it.`,
		Example: "  pipedeck list\n  pipedeck list -o wide\n  pipedeck list -o json\n" +
			"  pipedeck list -o name | xargs -n 1 pipedeck status --name",
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := t.Root()
			if err != nil {
				return err
			}
			found, others, err := workspace.List(root)
			if err != nil {
				return exit.Usage(err, "choose another --state-dir")
			}
			for _, dir := range others {
				fmt.Fprintln(cmd.ErrOrStderr(),
					text.Clean(dir+" is not an environment that you may read; it is not listed"))
			}
			listed := []document.ListedEnvironment{}
			for _, w := range found {
				listed = append(listed, examine(w))
			}
			if len(listed) == 0 && !output.Machine() && !output.Names() {
				_, err := fmt.Fprintf(cmd.ErrOrStderr(), "there is no environment in %s; start one with: pipedeck up\n",
					text.Clean(root))
				return err
			}
			return printEnvironments(cmd, listed, &output)
		},
	}
	format.AddListFlags(cmd, &output)
	return cmd
}

// examine reads what is known of an environment from its directory, which asks no process.
func examine(w *workspace.Workspace) document.ListedEnvironment {
	e := document.ListedEnvironment{Name: w.Name, State: document.Stopped, Directory: w.Dir,
		Clusters: []document.ListedCluster{}, Bytes: sizeOf(w.Dir)}
	alive, err := w.Alive()
	if err != nil {
		e.State, e.Reason = document.Unreadable, err.Error()
		return e
	}
	published, err := w.Published()
	e.Repository = repositoryOf(w, published)
	switch {
	case err == nil:
		e.Since = document.Moment(published.StartedAt)
		for _, name := range slices.Sorted(maps.Keys(published.Clusters)) {
			e.Clusters = append(e.Clusters, document.ListedCluster{Name: name, Kind: published.Clusters[name]})
		}
		e.State = document.Killed
		if alive {
			e.State, e.Address, e.PID = document.Running, published.Address, published.PID
		}
	case alive && errors.Is(err, fs.ErrNotExist):
		e.State = document.Starting
	case !errors.Is(err, fs.ErrNotExist):
		e.State, e.Reason = document.Unreadable, err.Error()
	}
	return e
}

// repositoryOf returns the directory of the repository that the environment's piped watches, or with --live the one
// where the environment was started; empty when it is not known.
func repositoryOf(w *workspace.Workspace, last *workspace.Running) string {
	piped, err := config.LoadPiped(w.PipedConfig())
	if err != nil || len(piped.Repositories) == 0 {
		return ""
	}
	dir := strings.TrimPrefix(piped.Repositories[0].Remote, "file://")
	switch {
	case dir != w.Snapshots():
		return dir
	case last == nil || last.Restart == nil:
		return ""
	}
	if was := startedWith(last); was != nil && len(was.samples) > 0 {
		return w.SampleRepository()
	}
	arguments := last.Restart.Arguments
	if at := slices.Index(arguments, "--"); at >= 0 && at+1 < len(arguments) {
		if filepath.IsAbs(arguments[at+1]) {
			return arguments[at+1]
		}
		return filepath.Join(last.Restart.Directory, arguments[at+1])
	}
	return last.Restart.Directory
}

// maxCounted bounds the files whose sizes are added up.
const maxCounted = 100_000

// sizeOf adds up the sizes of the files below a directory. Files that cannot be read do not count.
func sizeOf(dir string) (bytes int64) {
	counted := 0
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error { // every error is of one file
		if err != nil || entry.IsDir() {
			return nil
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		if counted++; counted >= maxCounted {
			return fs.SkipAll
		}
		return nil
	})
	return bytes
}

func printEnvironments(cmd *cobra.Command, listed []document.ListedEnvironment, output *format.Output) error {
	var names []string
	table := format.Table{Columns: []format.Column{
		{Head: "NAME", Yield: 1, Least: 12}, {Head: "STATE", State: true},
		{Head: "CLUSTERS", Yield: 3, Least: 8, Drop: 2},
		{Head: "REPOSITORY", Yield: 4, Least: 16, Drop: 3}, {Head: "ADDRESS", Drop: 1}, {Head: "AGE", Drop: 4},
		{Head: "SIZE", Drop: 5}, {Head: "REASON", Text: true, Wide: true}, {Head: "PID", Wide: true},
		{Head: "DIRECTORY", Wide: true},
	}}
	for _, e := range listed {
		names = append(names, e.Name)
		var clusters []string
		for _, c := range e.Clusters {
			clusters = append(clusters, c.Name+"="+c.Kind)
		}
		pid, since := "", ""
		if e.PID != 0 {
			pid = fmt.Sprint(e.PID)
		}
		if at, err := time.Parse(time.RFC3339Nano, e.Since); err == nil {
			since = resolve.Age(time.Since(at))
		}
		table.Rows = append(table.Rows, []string{e.Name, e.State, strings.Join(clusters, ","), homely(e.Repository),
			e.Address, since, diskSize(e.Bytes), e.Reason, pid, e.Directory})
	}
	return output.List(cmd.OutOrStdout(), func() any {
		return document.Environments{Head: document.NewHead(), Environments: listed}
	}, names, table)
}

// homely returns a path with ~ for the home directory.
func homely(path string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		return path
	}
	if rest, below := strings.CutPrefix(path, home+string(filepath.Separator)); below {
		return filepath.Join("~", rest)
	}
	return path
}
