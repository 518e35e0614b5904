// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/piped/pluginhost/plugintest"
)

// hangTimeout is long enough for the answer of a plugin on a busy machine. A process that does not answer twice would
// be ended.
const hangTimeout = 2 * time.Second

// health is short enough for several checks while the test looks on.
func health(o *pluginhost.Options) {
	o.HealthInterval, o.HangTimeout = 20*time.Millisecond, hangTimeout
}

func held(p *agentv1.Plugin) bool { return strings.HasPrefix(p.GetDetail(), "held by a debugger (") }

func TestAProcessThatADebuggerHoldsIsShownSoAndNotEnded(t *testing.T) {
	t.Parallel()
	host := start(t, health, entry(t, "p", settings{"stages": []string{"A"}}))
	pid := await(t, host, inState(agentv1.Plugin_STATE_RUNNING)).GetPid()
	p, err := host.Owner(t.Context(), "A")
	require.NoError(t, err)
	require.Zero(t, p.HeldTime())

	release := plugintest.Debug(t, testPlugin, int(pid))
	answered := make(chan error, 1)
	go func() { // a call, so that the debugger is looked for soon
		_, err := execute(context.WithoutCancel(t.Context()), p, `{}`)
		answered <- err
	}()
	await(t, host, held)
	require.Eventually(t, func() bool { return p.HeldTime() > 3*hangTimeout }, wait, 10*time.Millisecond)
	release()
	require.NoError(t, <-answered)
	shown := await(t, host, func(p *agentv1.Plugin) bool { return p.GetDetail() == "" })
	require.Equal(t, pid, shown.GetPid())
	require.Zero(t, shown.GetRestarts())
	total := p.HeldTime()
	require.Equal(t, total, p.HeldTime(), "it stands still now")
}

// As when an author starts the plugin under a debugger that stops it before its first line.
func TestTheTimeOfAStartStandsStillWhileADebuggerHoldsThePlugin(t *testing.T) {
	t.Parallel()
	for name, binary := range map[string]string{"over a link": testPlugin, "over loopback": unlinked(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const patience = 3 * time.Second
			server, _, _ := service(t)
			e := entry(t, "p", settings{"stages": []string{"A"}, "start": "late", "delay": "1s"})
			e.URL = "file://" + binary
			host := start(t, func(o *pluginhost.Options) {
				o.StartTimeout = patience
				o.Service, o.ServiceAddress = server, server.Address()
			}, e)
			shown := await(t, host, func(p *agentv1.Plugin) bool { return p.GetPid() != 0 })
			release := plugintest.Debug(t, testPlugin, int(shown.GetPid()))
			await(t, host, held)
			require.Eventually(t, func() bool { return host.HeldTime() > 2*patience }, wait, 10*time.Millisecond)
			release()
			shown = await(t, host, inState(agentv1.Plugin_STATE_RUNNING))
			require.Zero(t, shown.GetRestarts())
		})
	}
}

// A debugger that has started the plugin is its parent, as is the shell of a plugin in another language.
func TestADebuggerOfAChildProcessCounts(t *testing.T) {
	t.Parallel()
	e := entry(t, "p", settings{"stages": []string{"A"}})
	script := filepath.Join(t.TempDir(), "plugin")
	text := "#!/bin/sh\n" + strings.TrimPrefix(e.URL, "file://") + ` "$@"` + "\nexit $?\n"
	require.NoError(t, os.WriteFile(script, []byte(text), 0o700))
	e.URL = "file://" + script
	host := start(t, health, e)
	shell := await(t, host, inState(agentv1.Plugin_STATE_RUNNING)).GetPid()
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", shell, shell))
	require.NoError(t, err)
	child, err := strconv.Atoi(strings.TrimSpace(string(children)))
	require.NoError(t, err)

	release := plugintest.Debug(t, testPlugin, child)
	require.Eventually(t, func() bool { return host.HeldTime() > 3*hangTimeout }, wait, 10*time.Millisecond)
	release()
	shown := await(t, host, func(p *agentv1.Plugin) bool { return !held(p) })
	require.Equal(t, shell, shown.GetPid())
	require.Zero(t, shown.GetRestarts())
}
