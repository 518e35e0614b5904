// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/config"
)

func TestAPluginThatUsesMoreThanItMayIsEnded(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		limits config.PluginLimits
		do     string
		want   string
	}{
		"memory": {
			config.PluginLimits{Memory: "128Mi", CPU: 1.5}, "eat",
			`more than its limit of 128 MiB|it needed more memory than its limit of 128 MiB`,
		},
		"threads": {
			config.PluginLimits{Pids: 40}, "threads",
			`it had \d+ threads, more than its limit of 40|it needed more processes and threads than its limit of 40`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := entry(t, "p", settings{"stages": []string{"A"}})
			e.Limits = tc.limits
			host := start(t, nil, e)
			p, err := host.Owner(t.Context(), "A")
			require.NoError(t, err)
			_, err = execute(t.Context(), p, `{"do":"`+tc.do+`"}`)
			require.Error(t, err)
			require.Regexp(t, tc.want, err.Error())
			s := await(t, host, inState(agentv1.Plugin_STATE_RUNNING))
			bytes, err := tc.limits.MemoryBytes()
			require.NoError(t, err)
			require.Equal(t, bytes, s.GetMemoryLimitBytes())
			require.EqualValues(t, tc.limits.Pids, s.GetPidsLimit())
		})
	}
}
