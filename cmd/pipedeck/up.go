// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/owned"
)

func newUpCommand(t *target) *cobra.Command {
	flags := &environmentFlags{}
	var output string
	var keep bool
	cmd := &cobra.Command{
		Use: "up [DIR]", Short: "Start the environment, or attach to the running one", Args: cobra.MaximumNArgs(1),
		Long: `Start a Kubernetes API, a control plane and piped with its plugins, watch a Git repository and
show its deployments. DIR is the repository; the default is the repository around the current directory,
which must hold application configurations. --sample creates a sample repository.

When you leave the UI, it asks whether to keep the environment running. Without a terminal, Ctrl-C ends it.`,
		Example: `  pipedeck up
  pipedeck up ~/src/my-app
  pipedeck up --sample hello-world
  pipedeck up --live
  pipedeck up --output plain`,
		RunE: func(cmd *cobra.Command, args []string) error {
			mode, err := chooseOutput(output, true)
			if err != nil {
				return err
			}
			return finish(mode, explain(cmd.Context(), runUp(cmd.Context(), t, flags, mode, keep, args)))
		},
	}
	flags.register(cmd)
	flags.registerLive(cmd)
	cmd.Flags().StringVar(&output, "output", "auto",
		"tui, plain, reader (sentences), json (one event a line); auto: tui on a terminal, plain elsewhere")
	cmd.Flags().BoolVar(&keep, "keep", true, "keep cluster and state when leaving")
	return cmd
}

func runUp(ctx context.Context, t *target, flags *environmentFlags, mode outputMode, keep bool, args []string) error {
	w, err := t.workspace()
	if err != nil {
		return err
	}
	running, err := hasHolder(ctx, w)
	if err != nil {
		return err
	}
	if running {
		if err := checkSameRepository(ctx, w, args); err != nil {
			return err
		}
		if err := flags.checkSameMode(w); err != nil {
			return err
		}
		if mode == outputTUI {
			return watchOnTerminal(ctx, w, nil, keep)
		}
		fmt.Fprintf(os.Stderr, "environment %q is running already; showing what happens there\n", w.Name)
		return attachReader(ctx, w, mode)
	}
	// What the user got wrong is said before anything is started or drawn.
	if err := flags.check(w, args); err != nil {
		return err
	}
	if err := flags.checkUnread(ctx, w, args); err != nil {
		return err
	}
	if mode != outputTUI {
		return runWithReader(ctx, t, flags, mode, keep, args)
	}
	command, err := flags.restart(args)
	if err != nil {
		return err
	}
	h, err := startHost(w, command)
	if err != nil {
		return err
	}
	return watchOnTerminal(ctx, w, h, keep)
}

// checkSameRepository refuses to show an environment that watches another repository than the one
// the user named: their commits would never appear there.
func checkSameRepository(ctx context.Context, w *workspace.Workspace, args []string) error {
	if len(args) == 0 {
		return nil
	}
	asked, err := workspace.OpenRepository(args[0])
	if err != nil {
		return err
	}
	deck, conn, err := dial(ctx, w)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	s, err := takeSnapshot(ctx, deck)
	if err != nil {
		return err
	}
	// An environment that is still opening its repository has no name for it yet.
	if watched := s.Environment().GetRepository(); watched != "" && watched != asked.Root {
		return usageError(fmt.Errorf("environment %q is running and watches %s, not %s", w.Name, watched, asked.Root),
			"choose another --name, or end that one first: pipedeck down"+nameFlag(w))
	}
	return nil
}

// checkSameMode refuses --live for an environment that was started without it: saving would deploy nothing.
func (f *environmentFlags) checkSameMode(w *workspace.Workspace) error {
	running, err := w.Published()
	if !f.live || err != nil || running.Live {
		return nil // one that has published nothing yet is waited for later
	}
	return usageError(fmt.Errorf("environment %q is running and deploys commits only", w.Name),
		"end it first: pipedeck down"+nameFlag(w)+"; then pipedeck up --live")
}

// check finds wrong usage without starting anything.
func (f *environmentFlags) check(w *workspace.Workspace, args []string) error {
	from, err := f.chooseSource(args)
	if err != nil {
		return err
	}
	if from.dir == "" && f.none() {
		return usageError(errors.New("the sample applications need a cluster, and --cluster none has none"),
			"use --cluster embedded, or give a repository of yours")
	}
	if _, _, err := f.programs(w); err != nil {
		return err
	}
	parsed, err := f.clusterFlags.parse()
	if err == nil && slices.ContainsFunc(parsed, func(n namedKind) bool { return n.kind == cluster.Existing }) {
		_, err = f.findExisting()
	}
	return err
}

// checkUnread refuses application configurations with keys, options and stages that nothing reads, before anything is
// started: piped would deploy them as if these were not there. Other mistakes are shown when piped meets them. A sample
// has none, and with --live what counts is in no commit.
func (f *environmentFlags) checkUnread(ctx context.Context, w *workspace.Workspace, args []string) error {
	from, err := f.chooseSource(args)
	if err != nil || from.dir == "" || f.live {
		return err
	}
	repository, err := from.open(w)
	if err != nil {
		return err
	}
	checker, err := f.checker(ctx, w)
	if err != nil {
		return err
	}
	if err := repository.CheckUnread(checker); err != nil {
		return usageError(err, "correct the file, commit it, and run again")
	}
	return nil
}

// outputMode is how events are shown.
type outputMode string

const (
	outputTUI    outputMode = "tui"
	outputPlain  outputMode = "plain"
	outputReader outputMode = "reader"
	outputJSON   outputMode = "json"
)

func chooseOutput(given string, canTUI bool) (outputMode, error) {
	// A dumb terminal cannot place a cursor.
	onTerminal := term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())) &&
		os.Getenv("TERM") != "dumb"
	switch mode := outputMode(given); {
	case given == "auto" && canTUI && onTerminal:
		return outputTUI, nil
	case given == "auto":
		return outputPlain, nil
	case mode == outputTUI && !onTerminal:
		return "", usageError(errors.New("there is no terminal that can be drawn on"), "use --output plain")
	case mode == outputTUI && canTUI, mode == outputPlain, mode == outputReader, mode == outputJSON:
		return mode, nil
	default:
		return "", usageError(fmt.Errorf("--output %q is unknown", given), "use tui, plain, reader or json")
	}
}

// lastWords is the space that the log of the host keeps for what the process writes when it ends, such as a panic, so
// that it is written on a full disk, too.
const lastWords = 64 << 10

// quiet returns a logger that writes to the environment's log, and what closes the log. Hosts use it, because their
// standard output belongs to the events.
func quiet(w *workspace.Workspace) (*slog.Logger, func() error, error) {
	if err := w.Create(); err != nil {
		return nil, nil, err
	}
	file, err := owned.OpenLog(w.Path("logs", "host.log"), owned.MaxLog)
	if err != nil {
		return nil, nil, fmt.Errorf("open the environment's log: %w", err)
	}
	_ = file.Reserve(lastWords) // on a full disk, the first line that fits tries again
	return slog.New(slog.NewTextHandler(file, nil)), file.Close, nil
}
