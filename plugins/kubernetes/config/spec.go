// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

type object = map[string]any

// SpecSchema returns what the options of an application and of its stages have to do with each other, as a JSON Schema
// of the spec of an application configuration.
func SpecSchema() map[string]any { return trafficSchema("kubernetes", StageTrafficRouting) }

// MultiSpecSchema is SpecSchema of the plugin for many clusters.
func MultiSpecSchema() map[string]any {
	const one, many = "kubernetes", "kubernetes_multicluster"
	refused := func(schema object) object {
		schema["patternErrorMessage"] = "one of the plugins " + one + " and " + many +
			", because they both deploy the manifests of this application"
		return schema
	}
	var single, multi []any
	for _, name := range Stages() {
		single, multi = append(single, name), append(multi, MultiName(name))
	}
	stages := func(schema object) object {
		return object{"properties": object{"pipeline": object{"properties": object{"stages": schema}}}}
	}
	hasSingle := stages(object{"contains": object{"required": []string{"name"},
		"properties": object{"name": object{"enum": single}}}})
	hasSingle["required"] = []string{"pipeline"}
	return object{"allOf": []any{
		trafficSchema(many, MultiName(StageTrafficRouting)),
		object{
			"if": hasSingle,
			"then": stages(
				object{"items": object{"properties": object{"name": refused(object{"not": object{"enum": multi}})}}}),
		},
		object{
			"if": object{
				"not": object{"required": []string{"pipeline"}}, "required": []string{"plugins"},
				"properties": object{"plugins": object{"required": []string{one}}},
			},
			"then": object{"properties": object{"plugins": object{"properties": object{many: refused(
				object{"not": object{}})}}}},
		},
	}}
}
