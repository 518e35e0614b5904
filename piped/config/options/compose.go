// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// envelopes are the schemas of PipeCD's own part of the files, generated from the types of package config.
//
//go:embed envelope/*.json
var envelopes embed.FS

// Compose returns the schema of application configurations ("application") or of piped configurations ("piped") with
// the options of the plugins, as one document without references to others, for editors. Stage names are those of the
// plugins alone.
func Compose(kind string, plugins []Plugin) ([]byte, error) {
	data, err := envelopes.ReadFile("envelope/" + kind + ".json")
	if err != nil {
		return nil, fmt.Errorf("there is no schema for %q: want application or piped", kind)
	}
	return ComposeInto(data, plugins)
}

// ComposeInto is [Compose] with the schema of PipeCD's own part.
func ComposeInto(envelope []byte, plugins []Plugin) ([]byte, error) {
	var document map[string]any
	if err := json.Unmarshal(envelope, &document); err != nil {
		return nil, fmt.Errorf("read the schema of PipeCD's own part: %w", err)
	}
	definitions := asObject(document["definitions"])
	c := &composer{
		definitions: definitions, application: asObject(definitions["Application"]),
		stage: asObject(definitions["Stage"]), plugin: asObject(definitions["Plugin"]),
	}
	byName := func(a, b Plugin) int { return strings.Compare(a.Name, b.Name) }
	for _, plugin := range slices.SortedFunc(slices.Values(plugins), byName) {
		if plugin.Schema != nil {
			c.add(plugin.Name, asObject(plugin.Schema.document["definitions"]))
		}
	}
	if c.stage != nil {
		slices.Sort(c.names)
		asObject(asObject(c.stage["properties"])["name"])["enum"] = slices.Compact(c.names)
	}
	used := map[string]bool{}
	c.mark(document["properties"], used)
	maps.DeleteFunc(definitions, func(name string, _ any) bool { return !used[name] })
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(document)
	return b.Bytes(), err
}

// composer adds the definitions of plugins to those of a file.
type composer struct {
	definitions, application, stage, plugin map[string]any
	names                                   []string
}

func (c *composer) add(plugin string, definitions map[string]any) {
	refer := func(name string) map[string]any {
		return map[string]any{"$ref": "#/definitions/" + plugin + "." + name}
	}
	for name, definition := range definitions {
		c.definitions[plugin+"."+name] = renamed(definition, plugin)
	}
	if c.application != nil {
		if definitions["application"] != nil {
			all := asObject(asObject(c.application["properties"])["plugins"])
			if all["properties"] == nil {
				all["properties"] = map[string]any{}
			}
			asObject(all["properties"])[plugin] = refer("application")
		}
		stages := asObject(asObject(definitions["stages"])["properties"])
		for _, name := range slices.Sorted(maps.Keys(stages)) {
			c.names = append(c.names, name)
			rule(c.stage, "name", name, map[string]any{"with": renamed(stages[name], plugin)})
		}
	}
	if c.plugin != nil {
		parts := map[string]any{}
		if definitions["config"] != nil {
			parts["config"] = refer("config")
		}
		if definitions["deployTarget"] != nil {
			target := map[string]any{"properties": map[string]any{"config": refer("deployTarget")}}
			parts["deployTargets"] = map[string]any{"items": target}
		}
		rule(c.plugin, "name", plugin, parts)
	}
}

// mark notes the definitions that a part refers to.
func (c *composer) mark(part any, used map[string]bool) {
	switch part := part.(type) {
	case map[string]any:
		if reference, is := part["$ref"].(string); is {
			if name, own := strings.CutPrefix(reference, "#/definitions/"); own && !used[name] {
				used[name] = true
				c.mark(c.definitions[name], used)
			}
		}
		for _, value := range part {
			c.mark(value, used)
		}
	case []any:
		for _, value := range part {
			c.mark(value, used)
		}
	}
}

// rule makes the properties of a mapping depend on the value of one of its keys.
func rule(schema map[string]any, key, value string, properties map[string]any) {
	rules, _ := schema["allOf"].([]any)
	schema["allOf"] = append(rules, map[string]any{
		"if": map[string]any{"properties": map[string]any{key: map[string]any{"const": value}},
			"required": []string{key}},
		"then": map[string]any{"properties": properties},
	})
}

// renamed is a part of the schema of a plugin with its references to the definitions of that plugin.
func renamed(part any, plugin string) any {
	switch part := part.(type) {
	case map[string]any:
		copied := make(map[string]any, len(part))
		for key, value := range part {
			if reference, is := value.(string); is && key == "$ref" {
				if name, own := strings.CutPrefix(reference, "#/definitions/"); own {
					value = "#/definitions/" + plugin + "." + name
				}
			}
			copied[key] = renamed(value, plugin)
		}
		return copied
	case []any:
		copied := make([]any, len(part))
		for i, value := range part {
			copied[i] = renamed(value, plugin)
		}
		return copied
	}
	return part
}
