// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/workspace"
)

func TestTheMetricsOfASampleAreThoseOfThePluginUnlessTheUserHasOthers(t *testing.T) {
	t.Parallel()
	own := map[string]any{"analysisProviders": []any{}}
	plugins := func(config map[string]any) []workspace.Plugin {
		return []workspace.Plugin{{Name: "wait"}, {Name: "analysis", Config: config}}
	}
	sample := plugins(nil)
	require.NoError(t, withSampleMetrics(sample, []string{"dag", "analysis"}))
	require.Equal(t, map[string]any{"analysisProviders": []any{map[string]any{
		"name": "sample", "type": "PROMETHEUS",
		"config": map[string]any{"address": "{{ .Services.DEFAULT_ANALYSIS_METRICS_URL }}"},
	}}}, sample[1].Config)
	require.Nil(t, sample[0].Config)

	for name, c := range map[string]struct {
		config  map[string]any
		samples []string
	}{
		"the user has configured it": {own, []string{"analysis"}}, "another sample": {nil, []string{"dag"}},
		"no sample": {nil, nil},
	} {
		same := plugins(c.config)
		require.NoError(t, withSampleMetrics(same, c.samples), name)
		require.Equal(t, c.config, same[1].Config, name)
	}
	require.NoError(t, withSampleMetrics(nil, []string{"analysis"}))
}
