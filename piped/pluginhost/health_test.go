// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
)

func TestAHungPluginIsFoundAndStartedAgain(t *testing.T) {
	t.Parallel()
	host := start(t, func(o *pluginhost.Options) {
		o.HealthInterval, o.HangTimeout = 50*time.Millisecond, 3*time.Second
		o.RestartPause = 2 * time.Second // so that its state is seen, on a busy machine too
	}, entry(t, "p", settings{"stages": []string{"A"}}))
	settle(t, host)
	p, err := host.Plugin("p")
	require.NoError(t, err)
	before := host.Status()[0].GetPid()
	stage := make(chan error, 1)
	touched := filepath.Join(t.TempDir(), "touched")
	go func() {
		stage <- executeOf(t.Context(), p, "app", "c", fmt.Sprintf(`{"do":"touch","file":%q}`, touched))
	}()
	require.Eventually(t, func() bool { _, err := os.Stat(touched); return err == nil }, wait, time.Millisecond)

	require.NoError(t, syscall.Kill(int(before), syscall.SIGSTOP))
	s := await(t, host, func(s *agentv1.Plugin) bool { return s.GetDetail() != "" })
	require.Equal(t, "it has not answered a health check for more than 1s, while it worked on: stage A of the "+
		"application app", s.GetDetail(), "before its time is over")
	require.Equal(t, agentv1.Plugin_STATE_RUNNING, s.GetState())
	s = await(t, host, inState(agentv1.Plugin_STATE_RESTARTING))
	want := `plugin "p" was ended by piped because it did not answer a health check within 3s, while it worked on: ` +
		`stage A of the application app; it was stopped by a signal (SIGSTOP)`
	require.Equal(t, want, s.GetDetail())
	var exit *pluginhost.ExitError
	require.ErrorAs(t, <-stage, &exit, "the stage can be tried again")
	require.EqualError(t, exit, want)

	s = await(t, host, inState(agentv1.Plugin_STATE_RUNNING))
	require.NotEqual(t, before, s.GetPid())
	require.ErrorIs(t, syscall.Kill(int(before), 0), syscall.ESRCH)
}

func TestTheReasonOfAPanicIsOneLineWithItsPlace(t *testing.T) {
	t.Parallel()
	host := start(t, nil, entry(t, "p", settings{"stages": []string{"A"}}))
	p, err := host.Owner(t.Context(), "A")
	require.NoError(t, err)
	_, err = execute(t.Context(), p, `{"do":"panic"}`)
	require.Error(t, err)
	require.Regexp(t, `plugin "p" exited with code 2: panic: the moon fell down at plugin\.go:\d+$`, err.Error())
}

func TestTheEndOfAPluginIsReportedThoughAChildHoldsItsOutput(t *testing.T) {
	t.Parallel()
	host := start(t, nil, entry(t, "p", settings{"stages": []string{"A"}}))
	p, err := host.Owner(t.Context(), "A")
	require.NoError(t, err)
	child := filepath.Join(t.TempDir(), "child")
	_, err = execute(t.Context(), p, fmt.Sprintf(`{"do":"linger","file":%q}`, child))
	var exit *pluginhost.ExitError
	require.ErrorAs(t, err, &exit)
	data, err := os.ReadFile(child)
	require.NoError(t, err)
	pid, err := strconv.Atoi(string(data))
	require.NoError(t, err)
	// The host ends what a plugin leaves, at about the time of the report.
	if err := syscall.Kill(pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
		require.NoError(t, err)
	}
}

func TestAPluginThatClosesItsLinkIsStartedAgain(t *testing.T) {
	t.Parallel()
	// A busy machine takes its time to end a process, as a process does that does not end by itself.
	for name, do := range map[string]string{"it ends at once": "unlink", "it is killed": "unlink-deaf"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, _, _ := service(t)
			host := start(t, func(o *pluginhost.Options) {
				o.Service, o.ServiceAddress = server, server.Address()
				o.HealthInterval, o.RestartPause = time.Hour, 2*time.Second // the call itself finds it
			}, entry(t, "p", settings{"stages": []string{"A"}}))
			p, err := host.Owner(t.Context(), "A")
			require.NoError(t, err)
			before := host.Status()[0].GetPid()
			_, err = execute(t.Context(), p, fmt.Sprintf(`{"do":%q}`, do))
			require.ErrorContains(t, err, "it has closed its connection to piped")
			var exit *pluginhost.ExitError
			require.ErrorAs(t, err, &exit, "the stage can be tried again")
			s := await(t, host, inState(agentv1.Plugin_STATE_RESTARTING))
			require.Equal(t, `plugin "p" was ended by piped because it has closed its connection to piped`,
				s.GetDetail())
			s = await(t, host, inState(agentv1.Plugin_STATE_RUNNING))
			require.NotEqual(t, before, s.GetPid())
		})
	}
}

func TestAPluginIsAskedForItsOwnHealth(t *testing.T) {
	t.Parallel()
	host := start(t, func(o *pluginhost.Options) { o.HealthInterval = 20 * time.Millisecond },
		entry(t, "p", settings{"stages": []string{"A"}, "health": true}))
	p, err := host.Owner(t.Context(), "A")
	require.NoError(t, err)
	_, err = execute(t.Context(), p, `{"do":"unwell"}`)
	require.NoError(t, err)
	s := await(t, host, func(s *agentv1.Plugin) bool { return s.GetDetail() != "" })
	require.Equal(t, "its health answer is that it does not serve", s.GetDetail())
	require.Equal(t, agentv1.Plugin_STATE_RUNNING, s.GetState())
	_, err = execute(t.Context(), p, `{"do":"well"}`)
	require.NoError(t, err)
	await(t, host, func(s *agentv1.Plugin) bool { return s.GetDetail() == "" })
}
