// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPluginsThatDeployToKubernetesGetTheClusters(t *testing.T) {
	t.Parallel()
	given := []string{"kubernetes_multicluster=/p/multi", "kubernetes=/p/other", "mine=/p/mine"}
	for name, tc := range map[string]struct {
		clusters, plugins, want []string
	}{
		"the bundled one":                {[]string{"embedded"}, nil, []string{"kubernetes"}},
		"one in its place, and PipeCD's": {[]string{"embedded"}, given, []string{"kubernetes", "kubernetes_multicluster"}},
		"both for several clusters":      {[]string{"a=embedded", "b=embedded"}, nil, []string{"kubernetes", "kubernetes_multicluster"}},
		"none without a cluster":         {[]string{"none"}, given, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &environmentFlags{clusterFlags: clusterFlags{clusters: tc.clusters}, plugins: tc.plugins}
			plugins, err := f.pluginList("/bin")
			require.NoError(t, err)
			var got []string
			for _, p := range plugins {
				if p.Kubernetes {
					got = append(got, p.Name)
				}
			}
			require.Equal(t, tc.want, got)
		})
	}
}
