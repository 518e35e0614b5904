// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
)

func TestLiveStateLeavesOutWhatTheDeployTargetExcludes(t *testing.T) {
	t.Parallel()
	var target config.DeployTarget
	require.NoError(t, json.Unmarshal([]byte(`{"appStateInformer": {
		"namespace": "shop", "includeResources": [{"apiVersion": "v1", "kind": "Secret"}],
		"excludeResources": [{"apiVersion": "batch/v1"}, {"apiVersion": "v1", "kind": "ConfigMap"}]}}`), &target))
	for _, c := range []struct {
		apiVersion, kind, namespace string
		watched                     bool
	}{
		{"apps/v1", "Deployment", "shop", true},
		{"apps/v1", "Deployment", "other", false},
		{"v1", "Namespace", "", true},
		{"v1", "ConfigMap", "shop", false},
		{"v1", "Secret", "shop", true},
		{"batch/v1", "Job", "shop", false},
		{"batch/v1beta1", "CronJob", "shop", true},
	} {
		require.Equal(t, c.watched, target.AppStateInformer.Watches(c.apiVersion, c.kind, c.namespace), "%v", c)
	}
	require.True(t, config.AppStateInformer{}.Watches("batch/v1", "Job", "anywhere"))
}
