// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
)

// misfortune is what may happen to a plugin, with the states and messages that users are shown, in their order.
type misfortune struct {
	settings settings
	change   func(t *testing.T, e *config.Plugin, o *pluginhost.Options)
	// strike is called once the plugin has settled; nil when its start is the misfortune.
	strike func(t *testing.T, host *pluginhost.Host, e config.Plugin)
	shown  []shown
}

type shown struct {
	state  agentv1.Plugin_State
	detail string // a regular expression
}

func callStage(with string) func(*testing.T, *pluginhost.Host, config.Plugin) {
	return func(t *testing.T, host *pluginhost.Host, _ config.Plugin) {
		p, err := host.Owner(t.Context(), "A")
		require.NoError(t, err)
		go func() { _, _ = execute(t.Context(), p, with) }()
	}
}

func signalled(s syscall.Signal) func(*testing.T, *pluginhost.Host, config.Plugin) {
	return func(t *testing.T, host *pluginhost.Host, _ config.Plugin) {
		require.NoError(t, syscall.Kill(int(host.Status()[0].GetPid()), s))
	}
}

// What becomes of plugins that are killed, hang, crash again and again, find their port taken, are corrupt, are
// replaced, or are starved.
func TestEveryMisfortuneOfAPluginEndsInItsStateAndMessage(t *testing.T) {
	t.Parallel()
	const (
		running    = agentv1.Plugin_STATE_RUNNING
		restarting = agentv1.Plugin_STATE_RESTARTING
		failed     = agentv1.Plugin_STATE_FAILED
	)
	again := shown{running, `^$`}
	for name, m := range map[string]misfortune{
		"killed": {
			strike: signalled(syscall.SIGKILL),
			shown: []shown{
				{restarting, `^plugin "p" was ended by signal SIGKILL; its last output: hello from p$`}, again,
			},
		},
		"hung": {
			change: func(_ *testing.T, _ *config.Plugin, o *pluginhost.Options) {
				o.HealthInterval, o.HangTimeout = 50*time.Millisecond, 2*time.Second
			},
			strike: signalled(syscall.SIGSTOP),
			shown: []shown{
				{restarting, `^plugin "p" was ended by piped because it did not answer a health check within 2s`},
				again,
			},
		},
		"crashing again and again": {
			settings: settings{"start": "once", "marker": "marker"},
			change:   func(_ *testing.T, _ *config.Plugin, o *pluginhost.Options) { o.RestartPause = time.Millisecond },
			strike:   signalled(syscall.SIGKILL),
			shown: []shown{{failed,
				`^quarantined after 5 failures within a minute: plugin "p" exited with code 4; ` +
					`its last output: hello from p \| started before; ` +
					`fix the program, or run: pipedeck restart p$`}},
		},
		"its port taken": {
			change: func(t *testing.T, e *config.Plugin, o *pluginhost.Options) {
				o.RestartPause = time.Millisecond
				taken, err := net.Listen("tcp", "127.0.0.1:0")
				require.NoError(t, err)
				t.Cleanup(func() { taken.Close() })
				e.Port = taken.Addr().(*net.TCPAddr).Port
			},
			shown: []shown{
				{
					failed,
					`^quarantined after 5 failures within a minute: port \d+ of plugin "p" is in use by .*; ` +
						`fix the program, or run: pipedeck restart p$`,
				},
			},
		},
		"corrupt": {
			change: func(t *testing.T, e *config.Plugin, _ *pluginhost.Options) {
				path := filepath.Join(t.TempDir(), "plugin")
				whole, err := os.ReadFile(testPlugin)
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(path, append([]byte{0}, whole...), 0o700))
				e.URL = "file://" + path
			},
			shown: []shown{
				{
					failed,
					`^start the binary of plugin "p": .*exec format error; ` +
						`fix the program, or run: pipedeck restart p$`,
				},
			},
		},
		"replaced": {
			change: func(t *testing.T, e *config.Plugin, _ *pluginhost.Options) {
				path := filepath.Join(t.TempDir(), "plugin")
				require.NoError(t, os.Link(testPlugin, path))
				e.URL = "file://" + path
			},
			strike: func(t *testing.T, host *pluginhost.Host, e config.Plugin) {
				pipe := filepath.Join(t.TempDir(), "pipe")
				require.NoError(t, syscall.Mkfifo(pipe, 0o600))
				callStage(fmt.Sprintf(`{"do":"hold","file":%q}`, pipe))(t, host, e)
				release, err := os.OpenFile(pipe, os.O_WRONLY, 0) // opens once the stage reads
				require.NoError(t, err)
				t.Cleanup(func() { release.Close() })
				whole, err := os.ReadFile(testPlugin)
				require.NoError(t, err)
				path := e.URL[len("file://"):]
				require.NoError(t, os.WriteFile(path+".new", append(whole, 0), 0o700))
				require.NoError(t, os.Rename(path+".new", path))
				old := host.Status()[0].GetPid()
				s := await(t, host, func(s *agentv1.Plugin) bool { return s.GetPid() != old && s.GetDetail() != "" })
				require.Equal(t, running, s.GetState())
				require.Equal(t, fmt.Sprint("running stages finish on the process before: pid ", old), s.GetDetail())
				require.NoError(t, release.Close())
			},
			shown: []shown{again},
		},
		"starved of memory": {
			change: func(_ *testing.T, e *config.Plugin, _ *pluginhost.Options) { e.Limits.Memory = "128Mi" },
			strike: callStage(`{"do":"eat"}`),
			shown: []shown{
				{
					restarting,
					`because it (used \d+ MiB of memory, more than|needed more memory than) its limit of 128 MiB`,
				},
				again,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if m.settings == nil {
				m.settings = settings{}
			}
			m.settings["stages"] = []string{"A"}
			if m.settings["marker"] != nil {
				m.settings["marker"] = filepath.Join(t.TempDir(), "marker")
			}
			e := entry(t, "p", m.settings)
			var options pluginhost.Options
			options.RestartPause = 2 * time.Second // so that each state is seen, on a busy machine too
			if m.change != nil {
				m.change(t, &e, &options)
			}
			host := start(t, func(o *pluginhost.Options) {
				o.RestartPause, o.HealthInterval = options.RestartPause, options.HealthInterval
				o.HangTimeout = options.HangTimeout
			}, e)
			settle(t, host)
			before := host.Status()[0].GetPid()
			if m.strike != nil {
				m.strike(t, host, e)
			}
			for _, next := range m.shown {
				s := await(t, host, func(s *agentv1.Plugin) bool {
					return s.GetState() == next.state &&
						(next.state != running || s.GetPid() != before && s.GetDetail() == "")
				})
				require.Regexp(t, next.detail, s.GetDetail())
			}
		})
	}
}
