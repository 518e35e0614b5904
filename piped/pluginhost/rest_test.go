// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/system/clock/clocktest"
)

func TestAPluginThatRestsIsReportedEveryTenSeconds(t *testing.T) {
	t.Parallel()
	var passedTime atomic.Int64
	began, pauses, passed := time.Unix(1e9, 0), make(chan time.Duration, 100), make(chan time.Time)
	host := start(t, func(o *pluginhost.Options) {
		o.HangTimeout, o.NoReload = -1, true
		o.Clock = clocktest.Clock{
			Time: func() time.Time { return began.Add(time.Duration(passedTime.Load())) },
			Timer: clocktest.TimerFunc(func(d time.Duration) <-chan time.Time {
				pauses <- d
				return passed
			}),
		}
	}, entry(t, "p", settings{"stages": []string{"A"}}))
	settle(t, host)
	r := &receiver{reports: make(chan *agentv1.ReportPluginsRequest, 100)}
	go func() { _ = pluginhost.NewReporter(host, r, slog.New(slog.DiscardHandler)).Run(t.Context()) }()
	require.Equal(t, 5*time.Second, <-pauses)
	require.Equal(t, agentv1.Plugin_STATE_RUNNING, (<-r.reports).GetPlugins()[0].GetState())
	pass := func() {
		passedTime.Add(int64(5 * time.Second))
		passed <- time.Time{}
		require.Equal(t, 5*time.Second, <-pauses)
	}
	for range 5 {
		pass()
		require.Empty(t, r.reports, "it is as it was")
		pass()
		require.Len(t, r.reports, 1, "the control plane may have forgotten it")
		<-r.reports
	}
}
