// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/plugins"
)

// pluginChapters is a chapter for each plugin, made of its schema.
func pluginChapters() (string, error) {
	schemas, err := plugins.Schemas()
	if err != nil {
		return "", err
	}
	c := &chapter{}
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		document, err := decoded(schemas[name])
		if err != nil {
			return "", err
		}
		c.definitions = document["definitions"].(object)
		c.part(fmt.Sprintf("Configuration of the plugin `%s`", name), c.definitions["config"])
		c.part(fmt.Sprintf("Deploy targets of `%s`", name), c.definitions["deployTarget"])
		c.part(fmt.Sprintf("Application options of `%s`", name), c.definitions["application"])
		stages, _ := c.definitions["stages"].(object)["properties"].(object)
		var without []string
		for _, stage := range slices.Sorted(maps.Keys(stages)) {
			if !c.part(fmt.Sprintf("Stage `%s`", stage), stages[stage]) {
				without = append(without, "`"+stage+"`")
			}
		}
		if len(without) > 0 {
			fmt.Fprintf(&c.b, "Stages of `%s` without options: %s.\n\n", name, strings.Join(without, ", "))
		}
	}
	return strings.TrimSpace(c.b.String()) + "\n", nil
}

// chapter writes the tables of one plugin.
type chapter struct {
	definitions object
	b           strings.Builder
}

// part writes the table of a definition, unless it has no keys.
func (c *chapter) part(title string, definition any) bool {
	schema := c.resolve(definition)
	if properties, _ := schema["properties"].(object); len(properties) == 0 {
		return false
	}
	fmt.Fprintf(&c.b, "### %s\n\n| key | type | meaning |\n|---|---|---|\n", title)
	c.rows(schema, "", nil)
	c.b.WriteString("\n")
	return true
}

// resolve follows references and the schemas that stand for them.
func (c *chapter) resolve(schema any) object {
	resolved, _ := schema.(object)
	if parts, is := resolved["allOf"].([]any); is && len(parts) == 1 && resolved["properties"] == nil {
		if inner, is := parts[0].(object); is && inner["$ref"] != nil {
			resolved = inner
		}
	}
	if reference, is := resolved["$ref"].(string); is {
		return c.resolve(c.definitions[strings.TrimPrefix(reference, "#/definitions/")])
	}
	return resolved
}

func (c *chapter) rows(schema object, prefix string, above []string) {
	properties, _ := schema["properties"].(object)
	required, _ := schema["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		property, _ := properties[name].(object)
		inner, key := c.resolve(property), prefix+name
		if inner["items"] != nil && c.resolve(inner["items"])["properties"] != nil {
			key += "[]"
		}
		meaning, _ := property["description"].(string)
		if slices.Contains(required, any(name)) {
			meaning = "Required. " + meaning
		}
		if allowed := enumeration(inner); allowed != "" {
			meaning += " Values: " + allowed + "."
		}
		fmt.Fprintf(&c.b, "| `%s` | %s | %s |\n", key, typeOf(inner), strings.ReplaceAll(meaning, "|", "\\|"))
		if inner["items"] != nil {
			inner = c.resolve(inner["items"])
		}
		if inner["properties"] != nil && len(above) < 8 {
			c.rows(inner, key+".", append(above, name))
		}
	}
}

// enumeration lists the values that a text may have.
func enumeration(schema object) string {
	var names []string
	list, _ := schema["enum"].([]any)
	for _, value := range list {
		if value != nil {
			names = append(names, fmt.Sprintf("`%v`", value))
		}
	}
	return strings.Join(names, ", ")
}

// typeOf is what a reader of the table calls the type.
func typeOf(schema object) string {
	types := map[string]bool{}
	switch of := schema["type"].(type) {
	case string:
		types[of] = true
	case []any:
		for _, one := range of {
			types[fmt.Sprint(one)] = true
		}
	}
	values, _ := schema["additionalProperties"].(object)
	items, _ := schema["items"].(object)
	switch {
	case types["string"] && types["integer"]:
		if pattern, _ := schema["pattern"].(string); strings.Contains(pattern, "ns|us") {
			return "duration"
		}
		return "number or percentage"
	case types["string"]:
		return "text"
	case types["integer"] || types["number"]:
		return "number"
	case types["boolean"]:
		return "true or false"
	case types["array"] && typeOf(items) == "text":
		return "list of texts"
	case types["array"]:
		return "list"
	case types["object"] && values != nil && typeOf(values) == "text":
		return "map of texts"
	case types["object"]:
		return "mapping"
	}
	return "any"
}
