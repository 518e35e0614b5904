// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

type object = map[string]any

// SpecSchema returns what the options of an application and of its stages have to do with each other, as a JSON Schema
// of the spec of an application configuration.
func SpecSchema() map[string]any { return sharesSchema("kubernetes", StageTrafficRouting) }

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
		sharesSchema(many, MultiName(StageTrafficRouting)),
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

// sharesSchema says that without a method of routing that knows shares, a Service sends all traffic to one variant. It
// is for the plugin of that name, whose stage for traffic is given.
func sharesSchema(plugin, stage string) object {
	withShares := object{"required": []string{"plugins"}, "properties": object{"plugins": object{
		"required": []string{plugin}, "properties": object{plugin: object{
			"required": []string{"trafficRouting"}, "properties": object{"trafficRouting": object{
				"required":   []string{"method"},
				"properties": object{"method": object{"enum": []any{MethodIstio, MethodGateway}}},
			}},
		}},
	}}}
	value := func(allowed ...any) object {
		return object{
			"enum": allowed,
			"patternErrorMessage": "all traffic to the primary or all to the canary, because the selector of a " +
				"Service " +
				"has no shares; or set plugins." + plugin + ".trafficRouting.method to " + MethodIstio + " or " +
				MethodGateway,
		}
	}
	none := []any{0, "0", "0%"}
	return object{
		"if": withShares, "then": true,
		"else": object{"properties": object{"pipeline": object{"properties": object{"stages": object{"items": object{
			"if": object{"properties": object{"name": object{"const": stage}}},
			"then": object{"properties": object{"with": object{"properties": object{
				"all":    value(DefaultPrimaryValue, DefaultCanaryValue),
				"canary": value(append(none, 100, "100", "100%")...), "baseline": value(none...),
			}}}},
		}}}}}},
	}
}
