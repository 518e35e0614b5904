// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// untilRest is longer than each pause between two looks at what does nothing.
const untilRest = 7 * time.Second

// slack is what a busy machine may add.
const slack = 5 * time.Second

// What rests is looked at more seldom; what becomes of it is known as soon as ever. The times are those of
// docs/clocks.md.
func TestWhatEndsOrHangsAtRestIsKnownInTime(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.start("up", "--sample", "hello-world", "--cluster", "embedded")
	for _, app := range []string{"hello-world", "hello-world-quick"} {
		s.await(app+" is deployed", func(ev event) bool { return ev.is("deployment", "app", app, "status", "SUCCESS") })
	}
	for _, tc := range []struct {
		what   string
		pid    func() int
		signal syscall.Signal
		known  func(event) bool
		within time.Duration
	}{
		{
			"a plugin ends", func() int { return e.pluginPID("wait") }, syscall.SIGKILL,
			func(ev event) bool { return ev.is("plugin", "name", "wait", "state", "RESTARTING") }, time.Second,
		},
		{
			"a plugin hangs", func() int { return e.pluginPID("waitapproval") }, syscall.SIGSTOP,
			func(ev event) bool { return ev.is("plugin", "name", "waitapproval", "state", "RESTARTING") },
			(5 + 15 + 2 + 1) * time.Second,
		},
		{
			"piped hangs", func() int { return e.child("piped") }, syscall.SIGSTOP,
			func(ev event) bool { return ev.is("problem", "part", "piped", "state", "DEGRADED") },
			(12 + 1) * time.Second,
		},
		{
			"the cluster hangs", func() int { return e.child("kubernetes") }, syscall.SIGSTOP,
			func(ev event) bool { return ev.is("problem", "part", "kubernetes", "state", "DEGRADED") },
			(3 + 3 + 3 + 3) * time.Second,
		},
	} {
		time.Sleep(untilRest) // the time without anything to do is what the story is about
		pid, began := tc.pid(), time.Now()
		require.NoError(t, syscall.Kill(pid, tc.signal))
		s.await(tc.what, tc.known)
		took := time.Since(began)
		t.Logf("%s: known after %s", tc.what, took.Round(time.Millisecond))
		require.Less(t, took, tc.within+slack, tc.what)
		if tc.signal == syscall.SIGSTOP {
			_ = syscall.Kill(pid, syscall.SIGKILL) // a plugin has been ended already
		}
		e.awaitStatus(0)
	}
}
