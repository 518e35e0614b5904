// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/system/porttest"
)

// replaceable is a plugin whose binary the test can change.
func replaceable(t *testing.T, s settings) (e config.Plugin, replace func(suffix string)) {
	t.Helper()
	data, err := os.ReadFile(testPlugin)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "plugin")
	replace = func(suffix string) {
		t.Helper()
		require.NoError(t, os.WriteFile(path+".new", append(data[:len(data):len(data)], suffix...), 0o700))
		require.NoError(t, os.Rename(path+".new", path))
	}
	replace("")
	e = entry(t, "p", s)
	e.URL = "file://" + path
	return e, replace
}

func TestAChangedBinaryTakesOverAndRunningStagesFinishOnTheOldOne(t *testing.T) {
	t.Parallel()
	for _, linked := range []bool{true, false} {
		t.Run(fmt.Sprintf("linked %v", linked), func(t *testing.T) {
			t.Parallel()
			e, replace := replaceable(t, settings{"stages": []string{"A"}})
			e.Port = porttest.Free(t)
			host := start(t, func(o *pluginhost.Options) {
				if linked {
					server, _, _ := service(t)
					o.Service, o.ServiceAddress = server, server.Address()
				}
			}, e)
			p, err := host.Owner(t.Context(), "A")
			require.NoError(t, err)
			old := host.Status()[0].GetPid()
			pipe := filepath.Join(t.TempDir(), "pipe")
			require.NoError(t, syscall.Mkfifo(pipe, 0o600))
			stage := make(chan error, 1)
			go func() {
				_, err := execute(t.Context(), p, fmt.Sprintf(`{"do":"hold","file":%q}`, pipe))
				stage <- err
			}()
			release, err := os.OpenFile(pipe, os.O_WRONLY, 0) // opens once the stage reads
			require.NoError(t, err)

			replace("new")
			s := await(t, host, func(s *agentv1.Plugin) bool {
				return s.GetPid() != old && s.GetState() == agentv1.Plugin_STATE_RUNNING && s.GetDetail() != ""
			})
			require.Equal(t, fmt.Sprint("running stages finish on the process before: pid ", old), s.GetDetail())
			_, err = execute(t.Context(), p, "{}")
			require.NoError(t, err, "new stages go to the new process")
			require.NoError(t, syscall.Kill(int(old), 0), "the old process has work to do")
			require.Empty(t, stage)

			require.NoError(t, release.Close())
			require.NoError(t, <-stage)
			require.Eventually(
				t, func() bool { return syscall.Kill(int(old), 0) == syscall.ESRCH }, wait, time.Millisecond,
			)
			await(t, host, func(s *agentv1.Plugin) bool { return s.GetDetail() == "" })
		})
	}
}

func TestABrokenBinaryLeavesTheOldOneRunningAndSaysWhy(t *testing.T) {
	t.Parallel()
	e, replace := replaceable(t, settings{"stages": []string{"A"}})
	host := start(t, nil, e)
	settle(t, host)
	old := host.Status()[0].GetPid()
	path := e.URL[len("file://"):]
	require.NoError(t, os.WriteFile(path+".new", []byte("\x7fELF, half of it"), 0o700))
	require.NoError(t, os.Rename(path+".new", path))
	s := await(t, host, func(s *agentv1.Plugin) bool { return s.GetDetail() != "" })
	require.Equal(t, agentv1.Plugin_STATE_RUNNING, s.GetState())
	require.Equal(t, old, s.GetPid())
	require.Contains(
		t, s.GetDetail(),
		`its changed program does not start, the one before it goes on: start the binary of plugin "p"`,
	)
	require.True(t, s.GetChangedBinaryFails(), "a restart would end the process that goes on")
	p, err := host.Plugin("p")
	require.NoError(t, err)
	_, err = execute(t.Context(), p, "{}")
	require.NoError(t, err)

	replace("") // the change is taken back
	s = await(t, host, func(s *agentv1.Plugin) bool { return s.GetDetail() == "" })
	require.Equal(t, old, s.GetPid())
	require.False(t, s.GetChangedBinaryFails())
	require.Empty(t, host.Problems())

	replace("fixed")
	await(t, host, func(s *agentv1.Plugin) bool { return s.GetPid() != old && s.GetDetail() == "" })
}

func TestAChangedBinaryEndsAQuarantine(t *testing.T) {
	t.Parallel()
	marker := filepath.Join(t.TempDir(), "marker")
	require.NoError(t, os.WriteFile(marker, nil, 0o600))
	e, replace := replaceable(t, settings{"start": "once", "marker": marker, "stages": []string{"A"}})
	host := start(t, nil, e)
	await(t, host, inState(agentv1.Plugin_STATE_FAILED))
	require.NoError(t, os.Remove(marker))
	replace("fixed")
	await(t, host, inState(agentv1.Plugin_STATE_RUNNING))
}

func TestAPluginThatIsReplacedAllTheTimeLosesNoCall(t *testing.T) {
	t.Parallel()
	e, replace := replaceable(t, settings{"stages": []string{"A"}})
	host := start(t, nil, e)
	p, err := host.Owner(t.Context(), "A")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	calls := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if _, err := execute(context.WithoutCancel(ctx), p, "{}"); err != nil {
				calls <- err
				return
			}
		}
		calls <- nil
	}()
	for i := range 5 {
		before := host.Status()[0].GetPid()
		replace(fmt.Sprint("number ", i))
		await(t, host, func(s *agentv1.Plugin) bool { return s.GetPid() != before })
	}
	cancel()
	require.NoError(t, <-calls)
}
