// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheTimeForThePluginsToStartIsCheckedAndHandedOn(t *testing.T) {
	t.Parallel()
	require.NoError(t, checkPluginStart(30*time.Second, "/piped"), "the default")
	require.NoError(t, checkPluginStart(2*time.Minute, ""))
	require.ErrorContains(t, checkPluginStart(time.Minute, "/piped"), "--plugin-start-timeout needs the included piped")
	for _, wrong := range []time.Duration{-time.Second, time.Millisecond, 2 * time.Hour} {
		require.ErrorContains(t, checkPluginStart(wrong, ""), "it has to be from 1s to 1h0m0s")
	}

	f := &Flags{pluginStart: 2 * time.Minute}
	require.Contains(t, f.arguments(), "--plugin-start-timeout=2m0s",
		"up hands its flags to the process that keeps the environment")
	require.Equal(t, 2*time.Minute, f.pipedOptions("piped", nil).PluginStart)
	require.NotContains(t, (&Flags{pluginStart: 30 * time.Second}).arguments(), "--plugin-start-timeout=30s")
}
