// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
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
