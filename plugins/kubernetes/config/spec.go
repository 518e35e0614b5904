// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

// SpecSchema returns what the options of an application and of its stages have to do with each other, as a JSON Schema
// of the spec of an application configuration: without a method of routing that knows shares, a Service sends all
// traffic to one variant. It is for the plugin of that name, whose stage for traffic is given.
func SpecSchema(plugin, stage string) map[string]any {
	type object = map[string]any
	withShares := object{"required": []string{"plugins"}, "properties": object{"plugins": object{
		"required": []string{plugin}, "properties": object{plugin: object{
			"required": []string{"trafficRouting"}, "properties": object{"trafficRouting": object{
				"required": []string{"method"}, "properties": object{"method": object{"enum": []any{MethodIstio, MethodGateway}}},
			}},
		}},
	}}}
	value := func(allowed ...any) object {
		return object{
			"enum": allowed,
			"patternErrorMessage": "all traffic to the primary or all to the canary, because the selector of a Service " +
				"has no shares; or set plugins." + plugin + ".trafficRouting.method to " + MethodIstio + " or " + MethodGateway,
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
