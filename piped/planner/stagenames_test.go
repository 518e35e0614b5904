// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planner_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/pluginhost/plugintest"
)

func TestAPlannedStageThatNoPluginHasIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		settings    map[string]any
		spec, wants string
	}{
		"in a quick sync": {
			map[string]any{"stages": []string{"ROLLOUT"}, "quick": "UNHEARD"}, "  plugins: {deployer: {}}\n",
			`plugin deployer planned the stage "UNHEARD", which it does not offer: this is a mistake in the plugin`,
		},
		"of a plugin that names none": {
			map[string]any{"stages": []string{}}, "  plugins: {deployer: {}}\n",
			"a quick sync has no stage: plugin deployer has no quick sync; add spec.pipeline, or name a plugin that " +
				"can deploy under spec.plugins",
		},
		"in a pipeline": {
			map[string]any{"stages": []string{"ROLLOUT"}, "rollback": "UNHEARD"},
			"  pipeline: {stages: [{name: ROLLOUT}]}\n  planner: {alwaysUsePipeline: true}\n",
			`plugin deployer planned the stage "UNHEARD", which it does not offer: this is a mistake in the plugin`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cp := &controlPlane{success: ran()}
			h := plugintest.Host(t, plugintest.Entry(t, "deployer", testPlugin, c.settings))
			_, err := plan(t, cp, h, c.spec, deployment())
			require.EqualError(t, err, c.wants)
			require.Nil(t, cp.planned)
		})
	}
}
