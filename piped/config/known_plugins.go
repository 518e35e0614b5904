// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"maps"
	"slices"
)

// stageOnlyPlugins are PipeCD's plugins that cannot deploy: an application needs another one, or a pipeline.
var stageOnlyPlugins = []string{"analysis", "scriptrun", "wait", "waitapproval"}

// stageOwners are the stages of PipeCD's plugins that a pipeline may hold, with their plugins. Rollback stages are not
// among them: plugins add those by themselves.
var stageOwners = stagesByPlugin(map[string][]string{
	"wait":         {"WAIT"},
	"waitapproval": {"WAIT_APPROVAL"},
	"scriptrun":    {"SCRIPT_RUN"},
	"analysis":     {"ANALYSIS"},
	"kubernetes": {
		"K8S_SYNC", "K8S_PRIMARY_ROLLOUT", "K8S_CANARY_ROLLOUT", "K8S_CANARY_CLEAN", "K8S_BASELINE_ROLLOUT", "K8S_BASELINE_CLEAN",
		"K8S_TRAFFIC_ROUTING",
	},
	"kubernetes_multicluster": {
		"K8S_MULTI_SYNC", "K8S_MULTI_PRIMARY_ROLLOUT", "K8S_MULTI_CANARY_ROLLOUT", "K8S_MULTI_CANARY_CLEAN",
		"K8S_MULTI_BASELINE_ROLLOUT", "K8S_MULTI_BASELINE_CLEAN", "K8S_MULTI_TRAFFIC_ROUTING",
	},
	"terraform": {"TERRAFORM_PLAN", "TERRAFORM_APPLY"},
	"ecs":       {"ECS_SYNC", "ECS_PRIMARY_ROLLOUT", "ECS_CANARY_ROLLOUT", "ECS_CANARY_CLEAN", "ECS_TRAFFIC_ROUTING"},
	"cloudrun":  {"CLOUDRUN_SYNC", "CLOUDRUN_PROMOTE"},
})

// IsStageOnly tells whether a plugin is one of PipeCD's that cannot deploy by itself.
func IsStageOnly(plugin string) bool { return slices.Contains(stageOnlyPlugins, plugin) }

func stagesByPlugin(stages map[string][]string) map[string]string {
	owners := map[string]string{}
	for plugin, names := range stages {
		for _, name := range names {
			owners[name] = plugin
		}
	}
	return owners
}

// KnownPlugins returns the names of PipeCD's plugins, sorted.
func KnownPlugins() []string {
	return slices.Compact(slices.Sorted(maps.Values(stageOwners)))
}
