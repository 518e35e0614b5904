// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/pipedeck/pipedeck/system/clock"
)

// passing is a clock whose times are over at once. It reports each interval between two health checks.
type passing struct {
	clock.System
	interval time.Duration
	checks   chan struct{}
}

// Now is a moment at which checks are made, so that the next one is an interval later.
func (passing) Now() time.Time { return time.Unix(0, 0) }

func (p passing) After(d time.Duration) <-chan time.Time {
	if d == p.interval {
		p.checks <- struct{}{}
	}
	over := make(chan time.Time, 1)
	over <- p.Now()
	return over
}

// What a process has started is ended after it, which takes long on a busy machine.
func TestAProcessThatHasEndedIsNotEndedForItsConnection(t *testing.T) {
	t.Parallel()
	conn, err := grpc.NewClient(
		"unix:"+filepath.Join(t.TempDir(), "none"), grpc.WithTransportCredentials(insecure.NewCredentials()),
	)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	checks := make(chan struct{})
	p := &process{command: exec.Command("true"), conn: conn, clock: passing{interval: time.Hour, checks: checks}}
	require.NoError(t, p.command.Run())
	p.ending.exited = make(chan struct{})
	p.ending.gone.Store(true)
	p.guard(time.Hour, time.Minute, func(bool) {}, func() {})
	guarded := make(chan struct{})
	go func() { defer close(guarded); p.watch.running.Wait() }()
	for range 2 { // the first check is judged before the second begins
		select {
		case <-checks:
		case <-guarded:
		}
	}
	close(p.ending.exited)
	for over := false; !over; { // checks may go on until it has seen the end
		select {
		case <-checks:
		case <-guarded:
			over = true
		}
	}
	require.Nil(t, p.ending.reason.Load(), "its own end is the cause")
	require.False(t, p.ending.stopping.Load())
}
