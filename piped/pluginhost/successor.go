// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
)

// successor is a process of a changed binary that answers, or why there is none. Both are nil when the
// binary is the same as before.
type successor struct {
	proc *process
	abilities
	err error
	// program is the file that the binary was read from.
	program identity
}

// errAbandoned ends the start of a successor to a process that has ended itself.
var errAbandoned = errors.New("the process that should be replaced has ended")

// succeed starts a process of a changed binary alongside the present one. A configured port is taken by the
// present one, so the new process gets another.
func (s *supervisor) succeed(ctx context.Context, lifeline *os.File, present *process) (result successor) {
	program, _ := identify(s.builds.program)
	defer func() { result.program = program }()
	b, err := s.binaries.fetch(ctx)
	if err != nil {
		return successor{err: err}
	}
	program = program.linked(s.builds.program, b.path)
	if b.path == present.command.Path {
		return successor{}
	}
	s.logger.Info("plugin binary has changed; the new one is started alongside the running one")
	proc, err := s.launcher.launch(b, 0, lifeline)
	if err != nil {
		return successor{err: err}
	}
	able, err := s.launcher.awaitReady(ctx, proc)
	if err != nil {
		s.discard(proc, err)
		return successor{err: err}
	}
	return successor{proc: proc, abilities: able}
}

// discard ends a process that never got a call. why is the error of its start, or why it is not needed any more.
func (s *supervisor) discard(proc *process, why error) {
	proc.stop(min(s.options.GracePeriod, startGrace))
	s.died(proc, why)
	s.remains.note(proc)
	proc.close()
}

// retire lets a replaced process finish the calls it has, and then stops it.
func (s *supervisor) retire(ctx context.Context, proc *process) {
	name := fmt.Sprint("pid ", proc.pid())
	s.condition.setLeaving(func(leaving []string) []string { return append(leaving, name) })
	s.retired.Go(func() {
		defer proc.close()
		defer s.condition.setLeaving(func(leaving []string) []string {
			return slices.DeleteFunc(leaving, func(other string) bool { return other == name })
		})
		finished := make(chan struct{})
		go func() {
			defer close(finished)
			proc.calls.Wait()
		}()
		select {
		case <-finished:
		case <-proc.ending.exited:
		case <-ctx.Done():
		}
		proc.stop(s.options.GracePeriod)
		s.died(proc, nil)
		s.remains.note(proc)
		<-finished // its calls end with it
		s.logger.Info("replaced plugin process has ended", "pid", proc.pid())
	})
}
