// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/pluginhost"
)

func TestCallsAndStartsNameThePluginThatIsWaitedFor(t *testing.T) {
	t.Parallel()
	host := start(t, nil,
		entry(t, "quick", settings{"stages": []string{"A"}}),
		entry(t, "slow", settings{"stages": []string{"B"}, "start": "late", "delay": "300ms"}))
	var mu sync.Mutex
	var begun []string
	ended := 0
	ctx := pluginhost.WithWaits(t.Context(), func(plugin string) func() {
		mu.Lock()
		defer mu.Unlock()
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
	require.Equal(t, "slow", begun[len(begun)-1])
	begun, ended = nil, 0
	require.NoError(t, slow.WaitRunning(ctx))
	_, err = execute(ctx, slow, "{}")
	require.NoError(t, err)
	require.Equal(t, []string{"slow", "slow"}, begun)
	require.Equal(t, 2, ended)
}
