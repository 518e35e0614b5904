// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"fmt"
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
