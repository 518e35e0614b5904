// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
)

// More than can be looked at in time: the kernel refuses it, and the Go runtime ends the plugin.
func TestAPluginThatTakesMuchMemoryAtOnceIsReportedAtItsLimit(t *testing.T) {
	t.Parallel()
	e := entry(t, "p", settings{"stages": []string{"A"}})
	e.Limits = config.PluginLimits{Memory: "128Mi"}
	host := start(t, nil, e)
	p, err := host.Owner(t.Context(), "A")
	require.NoError(t, err)
	_, err = execute(t.Context(), p, `{"do":"devour"}`)
	var exit *pluginhost.ExitError
	require.ErrorAs(t, err, &exit)
	require.Regexp(
		t,
		`^plugin "p" (exited with code 2|was ended by the kernel) because it needed more memory than its `+
			`limit of 128 MiB`,
		exit.Error(),
	)
	await(t, host, inState(agentv1.Plugin_STATE_RUNNING))
}
