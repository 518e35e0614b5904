// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"maps"
	"reflect"
	"slices"

	"github.com/pipedeck/pipedeck/piped/config"
)

// parts adds what tags do not say: the parts that plugins own, and keys of which one is needed.
func (g *generator) parts(t reflect.Type, properties, schema object) {
	switch t {
	case reflect.TypeFor[config.Piped]():
		schema["oneOf"] = requiring("pipedKeyFile", "pipedKeyData")
	case reflect.TypeFor[config.NotificationReceiver]():
		schema["oneOf"] = requiring("slack", "webhook")
	case reflect.TypeFor[config.ChainApplication]():
		schema["anyOf"] = requiring("name", "kind", "labels")
	case reflect.TypeFor[config.EventReplacement]():
		schema["anyOf"] = requiring("yamlField", "jsonField", "HCLField", "regex")
	case reflect.TypeFor[config.Stage]():
		properties["with"].(object)["type"] = []string{"object", "null"}
		schema["allOf"] = g.byName(g.known.Stages, "with", nil)
	case reflect.TypeFor[config.Plugin]():
		target := func(refer object) object {
			return object{"items": object{"properties": object{"config": refer}}}
		}
		schema["allOf"] = append(g.byName(g.known.Plugins, "config", nil), g.byName(g.known.DeployTargets, "deployTargets", target)...)
	case reflect.TypeFor[config.Application]():
		known := object{}
		for name, one := range g.known.Applications {
			known[name] = g.reference(one, g.known.Applications)
		}
		properties["plugins"] = object{
			"type": "object", "description": g.describe(t, "Plugins"), "properties": known, "additionalProperties": true,
		}
	}
}

// byName makes the type of a key depend on the name beside it.
func (g *generator) byName(types map[string]reflect.Type, key string, wrap func(object) object) []any {
	var rules []any
	for _, name := range slices.Sorted(maps.Keys(types)) {
		schema := g.reference(types[name], types)
		if wrap != nil {
			schema = wrap(schema)
		}
		rules = append(rules, object{
			"if":   object{"properties": object{"name": object{"const": name}}, "required": []string{"name"}},
			"then": object{"properties": object{key: schema}},
		})
	}
	return rules
}

func requiring(names ...string) []any {
	var list []any
	for _, name := range names {
		list = append(list, object{"required": []string{name}})
	}
	return list
}
