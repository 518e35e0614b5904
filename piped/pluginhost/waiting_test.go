// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/failpoint/failpointtest"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
)

func TestCallsAndStartsNameThePluginThatIsWaitedFor(t *testing.T) {
	t.Parallel()
	gate := failpointtest.NewGate(t)
	host := start(t, nil,
		entry(t, "quick", settings{"stages": []string{"A"}}),
		entry(t, "slow", settings{"stages": []string{"B"}, "start": "held", "marker": gate.Path}))
	require.NoError(t, host.Settled(t.Context(), "quick"))
	var mu sync.Mutex
	var begun []string
	ended := 0
	gate.Await(t)
	open := sync.OnceFunc(gate.Open) // once it is waited for
	ctx := pluginhost.WithWaits(t.Context(), func(plugin string) func() {
		mu.Lock()
		defer mu.Unlock()
		open()
		begun = append(begun, plugin)
		return func() {
			mu.Lock()
			defer mu.Unlock()
			ended++
		}
	})
	slow, err := host.Owner(ctx, "B")
	require.NoError(t, err)
	require.NotEmpty(t, begun, "it has waited for a start")
	require.Empty(t, slices.DeleteFunc(begun, func(plugin string) bool { return plugin == "slow" }))
	begun, ended = nil, 0
	require.NoError(t, slow.WaitRunning(ctx))
	_, err = execute(ctx, slow, "{}")
	require.NoError(t, err)
	require.Equal(t, []string{"slow", "slow"}, begun)
	require.Equal(t, 2, ended)
}
