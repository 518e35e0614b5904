// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/system/clock/clocktest"
)

func TestAProcessWithoutControlGroupIsMeasuredEverySecondWhileItWorks(t *testing.T) {
	t.Parallel()
	pauses, passed := make(chan time.Duration), make(chan time.Time)
	p := &process{command: exec.Command("sleep", "3600")}
	now := func() time.Time { return time.Unix(0, 0) }
	p.clock = clocktest.Clock{Time: now, Timer: clocktest.TimerFunc(func(d time.Duration) <-chan time.Time {
		select { // a call that began late may ask for one more pause at the end
		case pauses <- d:
		case <-p.ending.exited:
		}
		return passed
	})}
	require.NoError(t, p.command.Start())
	t.Cleanup(func() { _ = p.command.Process.Kill(); _ = p.command.Wait() })
	p.watch.began, p.ending.exited = make(chan struct{}, 1), make(chan struct{})
	p.bound(limits{memory: 4 << 30, pids: 1000})
	require.Equal(t, time.Second, <-pauses)
	passed <- time.Time{}
	require.Equal(t, 5*time.Second, <-pauses, "it rests")

	end := p.inputs.begin(input{})
	signal(p.watch.began)
	require.Equal(t, time.Second, <-pauses, "a call has begun")
	for range 3 {
		signal(p.watch.began) // more calls delay no measure
		passed <- time.Time{}
		require.Equal(t, time.Second, <-pauses, "it works")
	}
	end()
	passed <- time.Time{}
	require.Equal(t, 5*time.Second, <-pauses, "it rests again")
	close(p.ending.exited)
	p.watch.running.Wait()
}

func TestOnlyAProcessFarFromItsLimitsRests(t *testing.T) {
	t.Parallel()
	l := limits{memory: 100 << 20, pids: 100}
	for name, tc := range map[string]struct {
		before, now usage
		want        bool
	}{
		"little memory":    {usage{rss: 20 << 20, threads: 10}, usage{rss: 21 << 20, threads: 10}, true},
		"less than before": {usage{rss: 60 << 20}, usage{rss: 20 << 20}, true},
		"half of memory":   {usage{rss: 51 << 20}, usage{rss: 51 << 20}, false},
		"growing memory":   {usage{rss: 20 << 20}, usage{rss: 26 << 20}, false},
		"half of threads":  {usage{threads: 51}, usage{threads: 51}, false},
		"growing threads":  {usage{threads: 10}, usage{threads: 16}, false},
	} {
		require.Equal(t, tc.want, l.farFrom(tc.before, tc.now), name)
	}
	require.True(t, limits{pids: 100}.farFrom(usage{}, usage{rss: 1 << 40, threads: 1}), "memory has no limit")
}

func TestWhatIsNewAboutAPlugin(t *testing.T) {
	t.Parallel()
	before := func() *agentv1.Plugin {
		return &agentv1.Plugin{
			Name: "p", State: agentv1.Plugin_STATE_RUNNING, Pid: 7, RssBytes: 20 << 20, CpuPercent: 0.2, OpenFiles: 9,
			Threads: 8, Goroutines: 20,
		}
	}
	for name, tc := range map[string]struct {
		change func(*agentv1.Plugin)
		alike  bool
	}{
		"nothing":            {func(*agentv1.Plugin) {}, true},
		"some figures":       {func(p *agentv1.Plugin) { p.RssBytes += 9999; p.CpuPercent = 0.4; p.Threads++ }, true},
		"much more memory":   {func(p *agentv1.Plugin) { p.RssBytes += 2 << 20 }, false},
		"much less memory":   {func(p *agentv1.Plugin) { p.RssBytes -= 2 << 20 }, false},
		"use of a processor": {func(p *agentv1.Plugin) { p.CpuPercent = 2 }, false},
		"open files":         {func(p *agentv1.Plugin) { p.OpenFiles += 10 }, false},
		"threads":            {func(p *agentv1.Plugin) { p.Threads += 10 }, false},
		"goroutines":         {func(p *agentv1.Plugin) { p.Goroutines += 10 }, false},
		"another process":    {func(p *agentv1.Plugin) { p.Pid++ }, false},
		"another state":      {func(p *agentv1.Plugin) { p.State = agentv1.Plugin_STATE_FAILED }, false},
		"another detail":     {func(p *agentv1.Plugin) { p.Detail = "its binary has changed" }, false},
	} {
		now := before()
		tc.change(now)
		require.Equal(t, tc.alike, alike(before(), now), name)
	}
}
