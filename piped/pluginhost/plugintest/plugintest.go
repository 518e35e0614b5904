// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package plugintest runs real plugin processes in tests: it builds the test plugin of package pluginhost, whose
// settings say what it does, and runs hosts of it.
package plugintest

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/system/buildtest"
)

// Main is for TestMain: it builds the test plugin, sets program to its path, runs the tests and exits. The directory of
// the program is removed then; tests may put more programs into it.
func Main(m *testing.M, program *string) {
	buildtest.Main(m, program, "github.com/pipedeck/pipedeck/piped/pluginhost/internal/testplugin")
}

// Entry is an entry of the piped configuration for a program that was built from the test plugin.
func Entry(t testing.TB, name, program string, settings map[string]any) config.Plugin {
	t.Helper()
	data, err := json.Marshal(settings)
	require.NoError(t, err)
	return config.Plugin{Name: name, URL: "file://" + program, Config: data}
}

// Host runs a host of the plugins until the test ends. Plugins that end are started again at once.
func Host(t testing.TB, plugins ...config.Plugin) *pluginhost.Host {
	t.Helper()
	h, err := pluginhost.New(pluginhost.Options{
		Plugins: plugins, BinaryDir: t.TempDir(), GracePeriod: 2 * time.Second, RestartPause: time.Millisecond,
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return h
}
