// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
)

func TestAPanicOfAPluginIsKeptWithItsPlace(t *testing.T) {
	t.Parallel()
	host := start(t, nil, entry(t, "p", settings{"stages": []string{"A"}}))
	p, err := host.Owner(t.Context(), "A")
	require.NoError(t, err)
	build := host.Status()[0].GetBuild()
	require.Len(t, build.GetHash(), 12)
	require.WithinRange(t, build.GetBuiltAt().AsTime(), time.Now().Add(-time.Hour), time.Now())
	_, err = execute(t.Context(), p, `{"do":"panic"}`)
	require.Error(t, err)

	s := await(t, host, func(s *agentv1.Plugin) bool { return s.GetCrashes() == 1 })
	require.Zero(t, s.GetReloads())
	require.Len(t, s.GetExits(), 1)
	exit := s.GetExits()[0]
	require.Equal(t, "panic: the moon fell down", exit.GetError())
	require.Regexp(t, `^plugin\.go:\d+$`, exit.GetPlace())
	require.Regexp(t, `^main\.\S+ \S+/plugin\.go:\d+$`, exit.GetStack()[0])
	require.Equal(t, build.GetHash(), exit.GetBuild().GetHash())
	require.NotZero(t, exit.GetPid())
}

func TestReloadsAreNoCrashesAndOnlyTheLastFiveExitsAreKept(t *testing.T) {
	t.Parallel()
	e, replace := replaceable(t, settings{"stages": []string{"A"}})
	host := start(t, func(o *pluginhost.Options) { o.RestartPause = time.Millisecond }, e)
	p, err := host.Owner(t.Context(), "A")
	require.NoError(t, err)
	first := host.Status()[0].GetBuild().GetHash()
	replace("newer")
	s := await(t, host, func(s *agentv1.Plugin) bool { return s.GetReloads() == 1 })
	require.NotEqual(t, first, s.GetBuild().GetHash())
	require.EqualValues(t, 1, s.GetRestarts())
	require.Zero(t, s.GetCrashes())
	require.Empty(t, s.GetExits())

	require.NoError(t, host.Restart("p"))
	await(t, host, func(s *agentv1.Plugin) bool {
		return s.GetRestarts() == 2 && s.GetState() == agentv1.Plugin_STATE_RUNNING
	})
	for i := range 7 {
		require.NoError(t, p.WaitRunning(t.Context()))
		_, err = execute(t.Context(), p, fmt.Sprintf(`{"do":"crash","file":"%d"}`, i)) // each a new input
		require.Error(t, err)
		s = await(t, host, func(s *agentv1.Plugin) bool { return s.GetCrashes() == int32(i+1) })
	}
	require.Len(t, s.GetExits(), 5)
	require.EqualValues(t, 1, s.GetReloads())
	require.Equal(t, "exited with code 7", s.GetExits()[4].GetReason())
}

func TestTheLastExitsAreKeptForTheNextPiped(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "exits")
	keeping := func(o *pluginhost.Options) { o.ExitDir = dir }
	run := func(crashes int) *agentv1.Plugin {
		host := start(t, keeping, entry(t, "p", settings{"stages": []string{"A"}}))
		p, err := host.Owner(t.Context(), "A")
		require.NoError(t, err)
		before := host.Status()[0]
		for i := range crashes {
			require.NoError(t, p.WaitRunning(t.Context()))
			_, err = execute(t.Context(), p, fmt.Sprintf(`{"do":"panic","file":"%d"}`, i)) // each a new input
			require.Error(t, err)
			await(t, host, func(s *agentv1.Plugin) bool { return s.GetCrashes() == int32(i+1) })
		}
		return before
	}
	require.Empty(t, run(4).GetExits())
	file := filepath.Join(dir, "p.json")
	await := func(wanted int) { // the file follows the count
		t.Helper()
		require.Eventually(t, func() bool {
			data, err := os.ReadFile(file)
			return err == nil && strings.Count(string(data), `"stack"`) == wanted
		}, wait, time.Millisecond)
	}
	await(4)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	again := run(2)
	require.Len(t, again.GetExits(), 4)
	require.Zero(t, again.GetCrashes())
	require.Equal(t, "panic: the moon fell down", again.GetExits()[3].GetError())
	require.NotEmpty(t, again.GetExits()[3].GetStack())
	await(5)
	require.Len(t, run(0).GetExits(), 5)

	require.NoError(t, os.WriteFile(file, []byte("{"), 0o600))
	require.Empty(t, run(1).GetExits(), "a damaged file keeps no plugin from running")
	await(1)
}

func TestAnEndByAFaultIsNoCrash(t *testing.T) {
	t.Parallel()
	host := start(t, nil, entry(t, "p", settings{"stages": []string{"A"}}))
	p, err := host.Owner(t.Context(), "A")
	require.NoError(t, err)
	taken := pluginhost.NewTaken()
	_, err = p.Deployment().ExecuteStage(t.Context(), stageOf(`{}`), pluginhost.TakenBy(taken))
	require.NoError(t, err)
	taken.Kill("a fault is injected")
	s := await(t, host, func(s *agentv1.Plugin) bool { return s.GetInjectedEnds() == 1 })
	require.Zero(t, s.GetCrashes())
	require.True(t, s.GetExits()[0].GetInjected())
	require.Contains(t, s.GetExits()[0].GetReason(), "a fault is injected")
	require.NoError(t, p.WaitRunning(t.Context()))
	_, err = execute(t.Context(), p, `{"do":"crash"}`)
	require.Error(t, err)
	s = await(t, host, func(s *agentv1.Plugin) bool { return s.GetCrashes() == 1 })
	require.EqualValues(t, 1, s.GetInjectedEnds())
	require.False(t, s.GetExits()[1].GetInjected())
}

func TestAnEndForAStageThatIgnoredItsCancelIsNoCrash(t *testing.T) {
	t.Parallel()
	host := start(t, nil, entry(t, "p", settings{"stages": []string{"A"}}))
	p, err := host.Owner(t.Context(), "A")
	require.NoError(t, err)
	taken := pluginhost.NewTaken()
	_, err = p.Deployment().ExecuteStage(t.Context(), stageOf(`{}`), pluginhost.TakenBy(taken))
	require.NoError(t, err)
	taken.Abandon("stage-1", "stage A went on for 15s after it was stopped")
	s := await(t, host, func(s *agentv1.Plugin) bool { return s.GetAbandonedEnds() == 1 })
	require.Zero(t, s.GetCrashes())
	require.True(t, s.GetExits()[0].GetAbandoned())
	require.Contains(t, s.GetExits()[0].GetReason(), "went on for 15s after it was stopped")
	require.NoError(t, p.WaitRunning(t.Context()))
	_, err = execute(t.Context(), p, `{"do":"crash"}`)
	require.Error(t, err)
	s = await(t, host, func(s *agentv1.Plugin) bool { return s.GetCrashes() == 1 })
	require.EqualValues(t, 1, s.GetAbandonedEnds())
	require.False(t, s.GetExits()[1].GetAbandoned())
}
