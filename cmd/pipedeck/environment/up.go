// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	sampleapps "github.com/pipedeck/pipedeck/sample-apps"
	"github.com/pipedeck/pipedeck/tui/page"
)

func newUpCommand(t *session.Target) *cobra.Command {
	flags, look := &Flags{}, &look{recording: &recording{}}
	var output string
	var keep, apply bool
	cmd := &cobra.Command{
		Use: "up [DIR]", Short: "Start the environment, or attach to the running one", Args: cobra.MaximumNArgs(1),
		Long: `Start a Kubernetes API, a control plane and piped with its plugins, watch a Git repository and
show its deployments. DIR is the repository; the default is the repository around the current directory,
which must hold application configurations. --sample creates a sample repository.

Flags that a running environment was not started with are listed. --apply starts its process again with
them; flags about clusters and samples need another environment. An environment that was stopped starts
with the flags of its last run on this repository, besides those that are given.

When you leave the UI with q, it asks whether to keep the environment running; Ctrl-C leaves and keeps it.
Without a terminal, Ctrl-C ends it.` + samplesHelp(),
		Example: `  pipedeck up
  pipedeck up ~/src/my-app
  pipedeck up --sample hello-world
  pipedeck up --live
  pipedeck up --piped-config piped.yaml
  pipedeck up --apply --plugin greeter=./greeter
  pipedeck up --record session.pipedeck
  pipedeck up --serve-web
  pipedeck up --output plain`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			mode, err := ChooseOutput(output, true)
			if err != nil {
				return err
			}
			if err := look.read(mode); err != nil {
				return err
			}
			if err := look.recording.create(); err != nil {
				return err
			}
			look.recording.prints(mode, cmd.OutOrStdout())
			defer func() { err = look.recording.finish(cmd.ErrOrStderr(), err) }()
			s := &Setup{Target: t, Flags: flags, Mode: mode, Keep: keep, Args: args, recording: look.recording,
				Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr()}
			err = exit.Explain(cmd.Context(), s.up(cmd.Context(), look, apply))
			return finish(mode, s.Out, look.recording.finish(s.Err, err))
		},
	}
	flags.Register(cmd)
	flags.registerLive(cmd)
	look.register(cmd)
	look.recording.register(cmd)
	cmd.Flags().StringVar(&output, "output", "auto", outputHelp)
	cmd.Flags().BoolVar(&keep, "keep", true, "keep cluster and state when leaving")
	cmd.Flags().BoolVar(&apply, "apply", false, "start the process of a running environment again with the flags that "+
		"are given besides its own; clusters, history and keys stay")
	return cmd
}

// up shows the environment that runs already, or starts it.
func (s *Setup) up(ctx context.Context, look *look, apply bool) error {
	w, err := s.Target.Workspace()
	if err != nil {
		return err
	}
	running, err := hasHolder(ctx, w)
	if err != nil {
		return err
	}
	if running && apply {
		return s.applyFlags(ctx, w, look)
	}
	if running {
		if err := s.Flags.checkSame(ctx, w, s.Args); err != nil {
			return err
		}
		if err := s.share(ctx, w, look); err != nil {
			return err
		}
		defer look.shared.Close()
		if s.Mode == outputTUI {
			return look.watch(ctx, w, nil, s.Keep)
		}
		fmt.Fprintf(s.Err, "environment %q is running already; showing what happens there\n", w.Name)
		return look.attachReader(ctx, w, s.Mode, s.Out)
	}
	note, err := takeLastRun(s.Flags, w, s.Args)
	if err != nil {
		return err
	}
	if note != "" {
		fmt.Fprintln(s.Err, note)
	}
	// What the user got wrong is said before anything is started or drawn.
	if err := s.check(ctx, w); err != nil {
		return err
	}
	if err := s.share(ctx, w, look); err != nil {
		return err
	}
	defer look.shared.Close()
	return s.start(ctx, w, look)
}

// share lets others watch, and says how unless a screen is drawn.
func (s *Setup) share(ctx context.Context, w *workspace.Workspace, look *look) error {
	if err := look.shareEnvironment(ctx, w, page.ModeLive); err != nil || s.Mode == outputTUI {
		return err
	}
	return look.announce(s.Mode, s.Out)
}

// check finds what would keep the environment from starting, or from deploying what is written.
func (s *Setup) check(ctx context.Context, w *workspace.Workspace) error {
	if err := s.Flags.check(ctx, w, s.Args); err != nil {
		return err
	}
	if err := s.checkUnread(ctx, w); err != nil {
		return err
	}
	return s.checkFurther(ctx, w)
}

// start starts the environment, and shows it until the user leaves.
func (s *Setup) start(ctx context.Context, w *workspace.Workspace, look *look) error {
	if s.Mode != outputTUI {
		return s.runWithReader(ctx)
	}
	command, err := s.Flags.restart(s.Args)
	if err != nil {
		return err
	}
	h, err := startHost(w, command)
	if err != nil {
		return err
	}
	look.warnings = unmatchedOf(s.Flags)
	return look.watch(ctx, w, h, s.Keep)
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
	deck, conn, err := session.Dial(ctx, w)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, session.CallTimeout)
	defer cancel()
	s, err := session.ReadState(ctx, deck)
	if err != nil {
		return err
	}
	// An environment that is still opening its repository has no name for it yet.
	if watched := s.Environment().GetRepository(); watched != "" && watched != asked.Root {
		return exit.Usage(fmt.Errorf("environment %q is running and watches %s, not %s", w.Name, watched, asked.Root),
			"choose another --name, or "+endFirst(w))
	}
	return nil
}

// check finds wrong usage without starting anything.
func (f *Flags) check(ctx context.Context, w *workspace.Workspace, args []string) error {
	if err := checkFaults(f.faults, f.piped); err != nil {
		return err
	}
	if err := checkPluginStart(f.pluginStart, f.piped); err != nil {
		return err
	}
	if err := checkBreaks(f.breaks, f.piped); err != nil {
		return err
	}
	from, err := f.chooseSource(args)
	if err != nil {
		return err
	}
	inCluster := func(s sampleapps.Sample) bool { return !s.Clusterless }
	if f.none() && slices.ContainsFunc(from.samples, inCluster) {
		return exit.Usage(errors.New("the sample applications need a cluster, and --cluster none has none"),
			"use --cluster embedded, or give a repository of yours")
	}
	if _, err := userCache(); err != nil {
		return err
	}
	parsed, err := f.clusterFlags.parse()
	if err != nil {
		return err
	}
	if err := f.checkSampleClusters(from.samples, parsed); err != nil {
		return err
	}
	if _, _, err := f.programs(w); err != nil {
		return err
	}
	// A helper that is still to be compiled checks the context when the environment starts.
	if f.checkout == "" && slices.ContainsFunc(parsed, func(n namedKind) bool { return n.kind == cluster.Existing }) {
		return f.checkExisting(ctx)
	}
	return nil
}

// checkUnread refuses application configurations with keys, options and stages that nothing reads, before anything is
// started: piped would deploy them as if these were not there. Other mistakes are shown when piped meets them. A sample
// has none, and with --live what counts is in no commit.
func (s *Setup) checkUnread(ctx context.Context, w *workspace.Workspace) error {
	f := s.Flags
	from, err := f.chooseSource(s.Args)
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
		return exit.Usage(err, "correct the file, commit it, and run again")
	}
	if s.Mode == outputTUI { // the other forms warn once the stages of all applications are known
		warnOfFaultTargets(f.faults, repository, checker, s.warn)
	}
	return nil
}
