// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"maps"
	"reflect"
	"strings"
)

// Known are the types of what PipeCD's own plugins read in configuration files, by the name of the
// plugin or stage. Plugins of these names may read more, and other plugins anything: the types serve to
// warn of slips and to complete in editors, not to decode.
type Known struct {
	// Applications are spec.plugins.<plugin> of an application configuration.
	Applications map[string]reflect.Type
	// Stages are the options (with) of stages.
	Stages map[string]reflect.Type
	// Plugins are the config of plugins, and DeployTargets the config of their deploy targets.
	Plugins, DeployTargets map[string]reflect.Type
}

// KnownParts returns the types of what PipeCD's own plugins read.
func KnownParts() Known {
	known := Known{
		Applications: map[string]reflect.Type{
			"kubernetes": reflect.TypeFor[kubernetesApplication](),
			"terraform":  reflect.TypeFor[terraformApplication](),
			"ecs":        reflect.TypeFor[ecsApplication](),
			"cloudrun":   reflect.TypeFor[cloudRunApplication](),
			"analysis":   reflect.TypeFor[analysisApplication](),
		},
		Stages: map[string]reflect.Type{
			"WAIT":                 reflect.TypeFor[waitOptions](),
			"WAIT_APPROVAL":        reflect.TypeFor[waitApprovalOptions](),
			"SCRIPT_RUN":           reflect.TypeFor[scriptRunOptions](),
			"ANALYSIS":             reflect.TypeFor[analysisOptions](),
			"K8S_SYNC":             reflect.TypeFor[kubernetesSync](),
			"K8S_PRIMARY_ROLLOUT":  reflect.TypeFor[kubernetesPrimary](),
			"K8S_CANARY_ROLLOUT":   reflect.TypeFor[kubernetesCanary](),
			"K8S_BASELINE_ROLLOUT": reflect.TypeFor[kubernetesBaseline](),
			"K8S_TRAFFIC_ROUTING":  reflect.TypeFor[kubernetesTraffic](),
			"TERRAFORM_PLAN":       reflect.TypeFor[terraformPlan](),
			"ECS_CANARY_ROLLOUT":   reflect.TypeFor[ecsCanary](),
			"ECS_TRAFFIC_ROUTING":  reflect.TypeFor[ecsTraffic](),
			"CLOUDRUN_PROMOTE":     reflect.TypeFor[cloudRunPromote](),
		},
		Plugins: map[string]reflect.Type{
			"kubernetes": reflect.TypeFor[kubernetesConfig](),
			"analysis":   reflect.TypeFor[analysisConfig](),
		},
		DeployTargets: map[string]reflect.Type{
			"kubernetes": reflect.TypeFor[kubernetesTarget](),
			"terraform":  reflect.TypeFor[terraformTarget](),
			"ecs":        reflect.TypeFor[ecsTarget](),
			"cloudrun":   reflect.TypeFor[cloudRunTarget](),
		},
	}
	for _, byPlugin := range []map[string]reflect.Type{known.Applications, known.Plugins, known.DeployTargets} {
		byPlugin["kubernetes_multicluster"] = byPlugin["kubernetes"]
	}
	for name, options := range maps.Clone(known.Stages) {
		if kind, ok := strings.CutPrefix(name, "K8S_"); ok {
			known.Stages["K8S_MULTI_"+kind] = options
		}
	}
	for _, name := range []string{"K8S_MULTI_CANARY_CLEAN", "K8S_MULTI_BASELINE_CLEAN"} {
		known.Stages[name] = reflect.TypeFor[kubernetesClean]()
	}
	return known
}

// part checks a value that a plugin owns against what is known of it. All it finds are warnings: the
// plugin has the last word.
func (d *decoder) part(types map[string]reflect.Type, name, field string) {
	known, n := types[name], d.raw[field]
	if known == nil {
		return
	}
	if n == nil || n.kind == nullNode { // What is required is missing from nothing, too.
		n = &node{kind: mappingNode, at: d.place(field)}
	}
	lenient := &decoder{file: d.file, places: map[string]position{}, raw: map[string]*node{}, lenient: true}
	value := reflect.New(known).Elem()
	setDefaults(value)
	lenient.decode(n, value, field)
	d.warnings = append(d.warnings, lenient.errors...)
	d.warnings = append(d.warnings, lenient.warnings...)
	d.warnings = append(d.warnings, lenient.v0...)
}

// oldOptions warns of stage options that PipeCD v0 read among those of the plugin.
func (d *decoder) oldOptions(stage Stage, at string) {
	var old []string
	switch stage.Name {
	case "WAIT", "ANALYSIS":
		old = []string{"skipOn"}
	case "WAIT_APPROVAL", "SCRIPT_RUN":
		old = []string{"timeout", "skipOn"}
	}
	with := d.raw[at+".with"]
	for _, name := range old {
		if with == nil || with.child(name) == nil {
			continue
		}
		if _, beside := d.places[at+"."+name]; !beside {
			d.warnf(with.child(name).at, at+".with."+name,
				"is where PipeCD v0 had it and is not read: it belongs beside the stage's name; \"pipedeck migrate %s\" moves it there", d.file)
		}
	}
}
