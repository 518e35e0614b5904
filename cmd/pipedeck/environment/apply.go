// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// applyFlags starts the process of a running environment again, with the flags that the user gives and those that it
// was started with. Its clusters, its history and its keys stay. What would not start is refused while it still runs.
func (s *Setup) applyFlags(ctx context.Context, w *workspace.Workspace, look *look) error {
	again, err := s.again(ctx, w)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Err, "starting the process of environment %q again; its clusters, history and keys stay\n",
		w.Name)
	if err := endKeeping(ctx, w); err != nil {
		return err
	}
	if err := s.share(ctx, w, look); err != nil {
		return err
	}
	defer look.shared.Close()
	return again.start(ctx, w, look)
}

// again is the environment as it is to be started in place of the running one.
func (s *Setup) again(ctx context.Context, w *workspace.Workspace) (*Setup, error) {
	if err := checkSameRepository(ctx, w, s.Args); err != nil {
		return nil, err
	}
	running, err := w.AwaitPublished(ctx)
	if err != nil {
		return nil, err
	}
	was := startedWith(running)
	if was == nil {
		return nil, exit.Usage(fmt.Errorf("environment %q was started by another version of pipedeck: its flags are "+
			"not known", w.Name), endFirst(w)+"; then start it with all its flags")
	}
	different := s.Flags.differences(running, was)
	if !different.applicable() {
		return nil, exit.Usage(different.error(w), different.nextStep(s.Flags, w, was, running, s.Args))
	}
	if running.Removes {
		return nil, exit.Usage(fmt.Errorf("environment %q removes itself when its process ends: it was started with "+
			"--keep=false", w.Name), endFirst(w)+"; then "+s.Flags.startInstead(w, was, running, s.Args))
	}
	flags, dirs := s.Flags.instead(was, running, s.Args)
	if flags == nil {
		return nil, errors.New("the flags of the running environment cannot be read")
	}
	again := &Setup{Target: s.Target, Flags: flags, Mode: s.Mode, Keep: s.Keep, Args: dirs, Out: s.Out, Err: s.Err}
	return again, again.check(ctx, w)
}

// endKeeping ends the process of an environment for another one, and leaves everything else. Who watches the
// environment waits for that process.
func endKeeping(ctx context.Context, w *workspace.Workspace) error {
	ctx, cancel := context.WithTimeout(ctx, downTimeout)
	defer cancel()
	if err := askToEnd(ctx, w, &deckv1.ShutdownRequest{Restart: true}); err != nil {
		return err
	}
	lock, err := awaitEnd(ctx, w)
	if err != nil {
		return err
	}
	if lock == nil {
		return exit.With(exit.Failed, fmt.Errorf("environment %q was removed meanwhile", w.Name),
			"start it with: "+session.StartCommand(w))
	}
	return lock.Release()
}
