// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

// trafficSchema says what the stage for traffic of a plugin may ask of each method of routing: a Service sends all
// traffic to one variant, and not every method chooses by headers, copies requests or keeps clients at a variant.
func trafficSchema(plugin, stage string) object {
	none := []any{0, "0", "0%"}
	shares := func(allowed ...any) object {
		return object{
			"enum": allowed,
			"patternErrorMessage": "all traffic to the primary or all to the canary, because the selector of a " +
				"Service has no shares; or set plugins." + plugin + ".trafficRouting.method to " + MethodIstio +
				" or " + MethodGateway,
		}
	}
	nothing := func(why string) object { return object{"enum": []any{nil}, "patternErrorMessage": "nothing: " + why} }
	const byMethod = "the selector of a Service cannot do that; set trafficRouting.method to "
	return object{"allOf": []any{
		object{
			"if": hasMethod(plugin, MethodIstio, MethodGateway, MethodNginx, MethodTraefik), "then": true,
			"else": stageWith(stage, object{
				"all":    shares(DefaultPrimaryValue, DefaultCanaryValue),
				"canary": shares(append(none, 100, "100", "100%")...), "baseline": shares(none...),
				"match":           nothing(byMethod + "gateway, istio, nginx or traefik"),
				"mirror":          nothing(byMethod + "gateway, istio or traefik"),
				"sessionAffinity": nothing(byMethod + "gateway or traefik"),
			}),
		},
		object{"if": hasMethod(plugin, MethodIstio), "then": stageWith(stage, object{
			"sessionAffinity": nothing("Istio keeps clients at a pod of one subset, not at a variant; match can send " +
				"them by a cookie"),
		})},
		object{"if": hasMethod(plugin, MethodNginx), "then": stageWith(stage, object{
			"mirror":          nothing("ingress-nginx cannot copy requests to a variant"),
			"sessionAffinity": nothing("annotate the Ingress with nginx.ingress.kubernetes.io/affinity: cookie"),
		})},
		needsService(plugin, stage, DefaultBaselineValue, StageBaselineRollout),
		needsService(plugin, stage, DefaultCanaryValue, StageCanaryRollout),
	}}
}

// needsService says that a pipeline that sends requests to a variant by a route has a stage that creates the Service of
// the variant. rollout is the name of that stage for one cluster; stage is that of the traffic stage.
func needsService(plugin, stage, variant, rollout string) object {
	if _, many := SingleName(stage); many {
		rollout = MultiName(rollout)
	}
	has := func(key string, value any) object {
		return object{"required": []string{key}, "properties": object{key: value}}
	}
	asks := []any{
		has("all", object{"const": variant}),
		has(variant, object{"not": object{"enum": []any{0, "0", "0%", nil}}}),
	}
	if variant == DefaultCanaryValue {
		asks = append(asks, has("match", object{"minItems": 1}),
			has("mirror", object{"type": "object", "properties": object{"to": object{"const": variant}}}))
	} else {
		asks = append(asks, has("mirror", has("to", object{"const": variant})))
	}
	stages := func(of object) object {
		return object{"required": []string{"pipeline"}, "properties": object{"pipeline": has("stages", of)}}
	}
	named := func(name string, with object) object {
		return object{"required": []string{"name", "with"}, "properties": object{
			"name": object{"const": name}, "with": with,
		}}
	}
	creates := named(rollout, has("createService", object{"const": true}))
	created := object{
		"not": object{"items": object{"not": creates}},
		"patternErrorMessage": "the stage " + rollout + " with createService: true, because a route sends traffic to " +
			"the Service of the " + variant,
	}
	return object{
		"if": object{"allOf": []any{
			hasMethod(plugin, MethodGateway, MethodNginx, MethodTraefik),
			stages(object{"contains": named(stage, object{"anyOf": asks})}),
		}},
		"then": stages(created),
	}
}

// hasMethod holds for applications that set one of the methods of routing for a plugin.
func hasMethod(plugin string, methods ...any) object {
	return object{"required": []string{"plugins"}, "properties": object{"plugins": object{
		"required": []string{plugin}, "properties": object{plugin: object{
			"required": []string{"trafficRouting"}, "properties": object{"trafficRouting": object{
				"required":   []string{"method"},
				"properties": object{"method": object{"enum": methods}},
			}},
		}},
	}}}
}

// stageWith holds when the options of each stage of that name are so.
func stageWith(stage string, options object) object {
	return object{"properties": object{"pipeline": object{"properties": object{"stages": object{"items": object{
		"if":   object{"properties": object{"name": object{"const": stage}}},
		"then": object{"properties": object{"with": object{"properties": options}}},
	}}}}}}
}
