// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/piped/pluginservice"
	"github.com/pipedeck/pipedeck/system/buildtest"
)

// bare builds a plugin of our SDK that does next to nothing.
func bare(tb testing.TB) config.Plugin {
	tb.Helper()
	return config.Plugin{Name: "wait", URL: "file://" + buildtest.Program(tb, "../../plugins/wait")}
}

// run is start for benchmarks: with links, and until stop is called.
func run(tb testing.TB, plugins ...config.Plugin) (host *pluginhost.Host, stop func()) {
	tb.Helper()
	server, err := pluginservice.Listen(
		pluginservice.Options{
			Registry: pluginservice.NewRegistry(), Commands: pluginservice.NewCommands(), Guarded: true,
		},
	)
	require.NoError(tb, err)
	host, err = pluginhost.New(pluginhost.Options{
		Plugins: plugins, BinaryDir: tb.TempDir(), Service: server, ServiceAddress: server.Address(),
		RestartPause: time.Millisecond,
	})
	require.NoError(tb, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- server.Run(ctx) }()
	go func() { done <- host.Run(ctx) }()
	return host, func() {
		cancel()
		require.NoError(tb, <-done)
		require.NoError(tb, <-done)
	}
}

// report returns the median and the 99th of a hundred.
func report(b *testing.B, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
	b.ReportMetric(0, "ns/op")
}

// until waits for a status of the only plugin, and reports when it was seen.
func until(b *testing.B, host *pluginhost.Host, wanted func(*agentv1.Plugin) bool) (*agentv1.Plugin, time.Time) {
	b.Helper()
	deadline := time.After(wait)
	for {
		changed := host.Changed()
		if s := host.Status()[0]; wanted(s) {
			return s, time.Now()
		}
		select {
		case <-changed:
		case <-deadline:
			require.Fail(b, "the plugin did not reach the wanted state", "%v", host.Status()[0])
		}
	}
}

// BenchmarkStart is the time from the start of the process to its first answer.
func BenchmarkStart(b *testing.B) {
	host, stop := run(b, bare(b))
	defer stop()
	s, _ := until(b, host, inState(agentv1.Plugin_STATE_RUNNING))
	var took []time.Duration
	for b.Loop() {
		before := s.GetPid()
		require.NoError(b, host.Restart("wait"))
		var at time.Time
		s, at = until(b, host, func(s *agentv1.Plugin) bool {
			return s.GetState() == agentv1.Plugin_STATE_RUNNING && s.GetPid() != before
		})
		took = append(took, at.Sub(s.GetStartedAt().AsTime()))
	}
	report(b, took)
}

// BenchmarkExitNotice is the time from a kill to the change of state.
func BenchmarkExitNotice(b *testing.B) {
	host, stop := run(b, bare(b))
	defer stop()
	var took []time.Duration
	for b.Loop() {
		s, _ := until(b, host, inState(agentv1.Plugin_STATE_RUNNING))
		killed := time.Now()
		require.NoError(b, syscall.Kill(int(s.GetPid()), syscall.SIGKILL))
		_, at := until(b, host, func(now *agentv1.Plugin) bool { return now.GetPid() != s.GetPid() })
		took = append(took, at.Sub(killed))
		if len(took)%4 == 0 {
			require.NoError(b, host.Restart("wait")) // forgets the crashes
			until(b, host, func(now *agentv1.Plugin) bool { return now.GetPid() == 0 || now.GetPid() != s.GetPid() })
		}
	}
	report(b, took)
}

// BenchmarkTakeover is the time from the replacement of a binary to new calls going to the new process.
func BenchmarkTakeover(b *testing.B) {
	plugin := bare(b)
	path := strings.TrimPrefix(plugin.URL, "file://")
	content, err := os.ReadFile(path)
	require.NoError(b, err)
	host, stop := run(b, plugin)
	defer stop()
	s, _ := until(b, host, inState(agentv1.Plugin_STATE_RUNNING))
	var took []time.Duration
	for b.Loop() {
		content = append(content, 'x')
		require.NoError(b, os.WriteFile(path+".new", content, 0o700))
		before, began := s.GetPid(), time.Now()
		require.NoError(b, os.Rename(path+".new", path))
		var at time.Time
		s, at = until(b, host, func(s *agentv1.Plugin) bool { return s.GetPid() != before })
		took = append(took, at.Sub(began))
	}
	report(b, took)
}

// BenchmarkIdle is what 50 idle plugins cost the agent: its CPU time for each second, with a sample every 3 s.
func BenchmarkIdle(b *testing.B) {
	plugin := bare(b)
	var plugins []config.Plugin
	for i := range 50 {
		plugin.Name = fmt.Sprint("wait-", i)
		plugins = append(plugins, plugin)
	}
	host, stop := run(b, plugins...)
	defer stop()
	require.NoError(b, host.Settled(context.Background()))
	for b.Loop() {
		before, began := cpuTime(b), time.Now()
		for range 5 {
			<-time.After(3 * time.Second)
			host.Sample()
		}
		b.ReportMetric(float64(cpuTime(b)-before)/float64(time.Since(began))*100, "%CPU")
	}
	b.ReportMetric(0, "ns/op")
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
