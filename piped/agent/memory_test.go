// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/clock/clocktest"
)

func TestMemoryIsReturnedOnceAfterABurstOfDeployments(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	idle, timers, given, ended := make(chan struct{}), make(chan chan time.Time), make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		memory{idle, clocktest.TimerFunc(func(d time.Duration) <-chan time.Time {
			timer := make(chan time.Time, 1)
			timers <- timer
			return timer
		}), func() { given <- true }}.run(ctx)
	}()
	idle <- struct{}{}
	first := <-timers
	idle <- struct{}{} // another deployment ended meanwhile
	second := <-timers
	first <- time.Time{}
	select {
	case <-given:
		require.Fail(t, "the time counts from the last deployment")
	case idle <- struct{}{}:
		second = <-timers
	}
	second <- time.Time{}
	<-given
	cancel()
	<-ended
}
