// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/plugins/terraform/command"
)

// defaultLockTimeout is how long commands wait for the lock of a state.
const defaultLockTimeout = 5 * time.Minute

// Waits is called when a command begins to wait for the lock of the state, which another process holds, for at most a
// time. It returns what is to be called when the wait is over.
type Waits func(lock command.Lock, most time.Duration) (over func())

// locking runs a command that takes the lock of the state. The program names the owner of the lock only when it gives
// up; so it gives up at once, and the second try waits. Until a command has the lock, it changes nothing.
func (s *Session) locking(ctx context.Context, c command.Command) (command.Result, error) {
	most := cmp.Or(s.Source.App.LockTimeout.Std(), defaultLockTimeout)
	within := func(timeout time.Duration) command.Command {
		timed := c
		timed.Args = slices.Insert(slices.Clone(c.Args), 1, "-lock-timeout="+timeout.String())
		return timed
	}
	if s.Waits == nil || slices.ContainsFunc(c.Args, setsLock) {
		return s.runner.Run(ctx, within(most))
	}
	first := within(0)
	var output *refusable
	if c.Output != nil {
		output = &refusable{to: c.Output}
		first.Output = output
	}
	result, err := s.runner.Run(ctx, first)
	failure, failed := command.AsFailure(err)
	if !failed {
		output.flush()
		return result, err
	}
	lock, held := failure.Lock()
	if !held {
		output.flush()
		return result, err
	}
	over := sync.OnceFunc(s.Waits(lock, most))
	defer over()
	if c.Output != nil {
		c.Output = &begun{to: c.Output, before: over}
	}
	return s.runner.Run(ctx, within(most))
}

// setsLock is whether a flag of a user says how a command locks.
func setsLock(flag string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
	return strings.HasPrefix(flag, "-") && (name == "lock" || name == "lock-timeout")
}

// refusable holds back what a program writes until that is more than that the state is locked.
type refusable struct {
	to   io.Writer
	held []byte
	open bool
}

func (r *refusable) Write(data []byte) (int, error) {
	if r.open {
		return r.to.Write(data)
	}
	r.held = append(r.held, data...)
	if !command.Refuses(string(r.held)) {
		r.flush()
	}
	return len(data), nil
}

// flush passes on what is held back; it does nothing for nil.
func (r *refusable) flush() {
	if r == nil || r.open {
		return
	}
	r.open = true
	_, _ = r.to.Write(r.held) // a log that is gone is none of the program's business
	r.held = nil
}

// begun calls a function before the first output of a program that has the lock.
type begun struct {
	to     io.Writer
	before func()
}

func (b *begun) Write(data []byte) (int, error) {
	if !command.Acquires(string(data)) {
		b.before()
	}
	return b.to.Write(data)
}
