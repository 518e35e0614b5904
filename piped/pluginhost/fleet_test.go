// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
)

// One plugin of fifty keeps every core busy. The host notices the end of another all the same, the others serve, and
// no one is taken for hung. Not in parallel: other tests need the cores, too.
func TestAPluginThatSpinsStarvesNoOther(t *testing.T) {
	const fleet = 50
	var plugins []config.Plugin
	for i := range fleet {
		plugins = append(plugins, entry(t, fmt.Sprint("p", i), settings{"stages": []string{fmt.Sprint("STAGE_", i)}}))
	}
	server, _, _ := service(t)
	host := start(t, func(o *pluginhost.Options) {
		o.Service, o.ServiceAddress, o.HealthInterval = server, server.Address(), 200*time.Millisecond
	}, plugins...)
	settle(t, host)
	before := map[string]int32{}
	for _, s := range host.Status() {
		require.Equal(t, agentv1.Plugin_STATE_RUNNING, s.GetState(), s)
		before[s.GetName()] = s.GetPid()
	}
	owner := func(i int) *pluginhost.Plugin {
		p, err := host.Owner(t.Context(), fmt.Sprint("STAGE_", i))
		require.NoError(t, err)
		return p
	}
	spinning, stop := context.WithCancel(t.Context())
	spun := make(chan error, 1)
	first := owner(0)
	go func() {
		_, err := execute(spinning, first, `{"do":"spin"}`)
		spun <- err
	}()
	busy := func() bool { // its share is small where the health checks of the others need most of the machine
		host.Sample()
		most := 1.0
		for _, s := range host.Status()[1:] {
			most = max(most, s.GetCpuPercent())
		}
		return host.Status()[0].GetCpuPercent() > 2*most
	}
	require.Eventually(t, busy, wait, 1100*time.Millisecond, "it spins")
	require.NoError(t, syscall.Kill(int(before["p1"]), syscall.SIGKILL))
	for i := 2; i < fleet; i++ {
		_, err := execute(t.Context(), owner(i), `{}`)
		require.NoError(t, err)
	}
	deadline := time.After(wait)
	for {
		changed := host.Changed()
		if s := host.Status()[1]; s.GetState() == agentv1.Plugin_STATE_RUNNING && s.GetPid() != before["p1"] {
			break
		}
		select {
		case <-changed:
		case <-deadline:
			require.Fail(t, "the killed plugin was not started again", "%v", host.Status()[1])
		}
	}
	for i, s := range host.Status() {
		require.Equal(t, agentv1.Plugin_STATE_RUNNING, s.GetState(), s)
		require.Empty(t, s.GetDetail())
		require.Equal(t, i == 1, s.GetPid() != before[s.GetName()], s.GetName())
	}
	stop()
	require.Error(t, <-spun)
}

// Of fifty plugins a third crashes, a third hangs and a third works on.
func TestFiftyPluginsStayApart(t *testing.T) {
	t.Parallel()
	const fleet = 50
	var plugins []config.Plugin
	for i := range fleet {
		plugins = append(plugins, entry(t, fmt.Sprint("p", i), settings{"stages": []string{fmt.Sprint("STAGE_", i)}}))
	}
	server, _, _ := service(t)
	host := start(t, func(o *pluginhost.Options) {
		o.Service, o.ServiceAddress = server, server.Address()
		o.HealthInterval, o.HangTimeout = time.Second, 8*time.Second
	}, plugins...)
	settle(t, host)
	before := map[string]int32{}
	for _, s := range host.Status() {
		require.Equal(t, agentv1.Plugin_STATE_RUNNING, s.GetState(), s)
		before[s.GetName()] = s.GetPid()
	}
	var stages sync.WaitGroup
	for i := range fleet {
		stages.Go(func() {
			p, err := host.Owner(t.Context(), fmt.Sprint("STAGE_", i))
			if err != nil {
				t.Errorf("plugin %d: %v", i, err)
				return
			}
			switch i % 3 {
			case 0:
				if _, err := execute(t.Context(), p, `{"do":"crash"}`); err == nil {
					t.Errorf("plugin %d did not crash", i)
				}
			case 1:
				if err := syscall.Kill(int(before[p.Name()]), syscall.SIGSTOP); err != nil {
					t.Errorf("stop plugin %d: %v", i, err)
				}
			default:
				for range 20 {
					if _, err := execute(t.Context(), p, `{}`); err != nil {
						t.Errorf("plugin %d: %v", i, err)
					}
				}
			}
		})
	}
	stages.Wait()
	deadline := time.After(wait)
	for i := range fleet {
		for {
			changed := host.Changed()
			s := host.Status()[i]
			if s.GetState() == agentv1.Plugin_STATE_RUNNING && (s.GetPid() == before[s.GetName()]) == (i%3 == 2) {
				break
			}
			select {
			case <-changed:
			case <-deadline:
				require.Fail(t, "a plugin is not as it should be", "%v", s)
			}
		}
	}
}
