// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/system/clock/clocktest"
)

func TestAPluginThatEndedIsStartedAgainByTheClock(t *testing.T) {
	t.Parallel()
	pauses, passed := make(chan time.Duration, 10), make(chan time.Time)
	host := start(t, func(o *pluginhost.Options) {
		o.RestartPause, o.HangTimeout, o.NoReload = time.Hour, -1, true
		o.Clock = clocktest.Clock{Timer: clocktest.TimerFunc(func(d time.Duration) <-chan time.Time {
			pauses <- d
			return passed
		})}
	}, entry(t, "p", settings{"stages": []string{"A"}}))
	settle(t, host)
	require.NoError(t, syscall.Kill(int(host.Status()[0].GetPid()), syscall.SIGKILL))
	pause := <-pauses
	require.LessOrEqual(t, pause, 10*time.Second)
	require.Greater(t, pause, 5*time.Second)
	require.Equal(t, agentv1.Plugin_STATE_RESTARTING, host.Status()[0].GetState())
	passed <- time.Time{}
	await(t, host, inState(agentv1.Plugin_STATE_RUNNING))
}
