// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
)

func TestNoSecretOfAURLStandsOnACommandLine(t *testing.T) {
	t.Parallel()
	argument, err := configArgument(
		config.Plugin{Name: "p", URL: "https://ada:hunter2@example.com/plugin?signature=hunter3"}, 1,
	)
	require.NoError(t, err)
	require.NotContains(t, argument, "hunter")
	require.Contains(t, argument, "https://example.com/plugin")
	argument, err = configArgument(config.Plugin{Name: "p", URL: "file:///bin/plugin"}, 1)
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"p","url":"file:///bin/plugin","port":1}`, argument)
}
