// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/story"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch/index"
	"github.com/pipedeck/pipedeck/plugins"
	"github.com/pipedeck/pipedeck/plugins/sdk/optionschema"
	sampleapps "github.com/pipedeck/pipedeck/sample-apps"
)

// others adds the schemas that are not made of one type of package config.
func others(comments optionschema.Comments, files map[string][]byte) error {
	for name, value := range map[string]any{
		"piped-plugin": config.PluginFile{}, "plugin-index": index.Index{}, "story": story.File{},
	} {
		g := newGenerator(comments)
		switch name {
		case "plugin-index":
			g.Extend = extendIndex
		case "story":
			g.Extend = extendStory
		}
		g.Define(map[string]any{"file": value})
		definitions, err := g.Definitions()
		if err != nil {
			return err
		}
		schema := document(name, object{"$ref": "#/definitions/file"}, definitions)
		if files[filepath.Join(published, name+".json")], err = optionschema.Encode(schema); err != nil {
			return err
		}
	}
	// Package options checks indexes by it.
	files[filepath.Join(envelopes, "plugin-index.json")] = files[filepath.Join(published, "plugin-index.json")]
	if err := analysisTemplate(files); err != nil {
		return err
	}
	return byKind(files)
}

// extendIndex adds what tags do not say of a plugin index: which names there may be.
func extendIndex(t reflect.Type, schema object) {
	properties := schema["properties"].(object)
	// named has a mapping take keys of a pattern only, and returns the schema of their values.
	named := func(of, pattern, want string) object {
		mapping := properties[of].(object)
		values := mapping["additionalProperties"].(object)
		mapping["patternProperties"], mapping["additionalProperties"] = object{pattern: values}, false
		mapping["patternErrorMessage"] = want
		return values
	}
	const name = "at most 100 letters, digits, dots, dashes and underscores, the first one a letter or digit"
	switch t {
	case reflect.TypeFor[index.Index]():
		properties["formatVersion"].(object)["enum"] = []any{1, nil}
		named("plugins", config.PluginNamePattern, name)
	case reflect.TypeFor[index.Plugin]():
		version := named("versions", config.PluginVersionPattern, "a version such as v1.2.0: "+name)
		binaries := object{}
		for _, platform := range platforms() {
			binaries[platform] = version["additionalProperties"]
		}
		version["properties"], version["additionalProperties"] = binaries, false
	case reflect.TypeFor[index.Binary]():
		digest := properties["sha256"].(object)
		digest["pattern"] = "^[0-9a-f]{64}$"
		digest["patternErrorMessage"] = "64 digits 0-9a-f, as sha256sum prints them"
	}
}

// extendStory adds the bounds of a story.
func extendStory(t reflect.Type, schema object) {
	properties := schema["properties"].(object)
	switch t {
	case reflect.TypeFor[story.File]():
		properties["sample"].(object)["enum"] = values(sampleapps.Names())
		properties["steps"].(object)["maxItems"] = story.MaxSteps
	case reflect.TypeFor[story.Step]():
		properties["say"].(object)["maxLength"] = story.MaxText
		properties["show"].(object)["enum"] = append(values(story.Panes()), nil)
	case reflect.TypeFor[story.Condition]():
		properties["status"].(object)["enum"] = append(values(story.Statuses()), nil)
		schema["oneOf"] = requiring("deployment", "application", "plugin")
	}
}

// platforms are those of Go, except for the web and phones.
func platforms() []string {
	var names []string
	for _, of := range []string{
		"aix ppc64", "darwin amd64 arm64", "dragonfly amd64", "freebsd 386 amd64 arm arm64", "illumos amd64",
		"linux 386 amd64 arm arm64 loong64 mips mips64 mips64le mipsle ppc64 ppc64le riscv64 s390x",
		"netbsd 386 amd64 arm arm64", "openbsd 386 amd64 arm arm64 ppc64 riscv64", "plan9 386 amd64 arm",
		"solaris amd64", "windows 386 amd64 arm64",
	} {
		system, processors, _ := strings.Cut(of, " ")
		for processor := range strings.SplitSeq(processors, " ") {
			names = append(names, system+"/"+processor)
		}
	}
	return names
}

// analysisTemplate is made of the schema of PipeCD's plugin analysis.
func analysisTemplate(files map[string][]byte) error {
	schemas, err := plugins.Schemas()
	if err != nil {
		return err
	}
	analysis, err := decoded(schemas["analysis"])
	if err != nil {
		return err
	}
	definitions := analysis["definitions"].(object)
	for _, of := range []string{"application", "config", "stages", "analysisOptions", "analysisProvider"} {
		delete(definitions, of)
	}
	const name = "analysistemplate"
	schema := document(name, envelope(kinds[name], object{"$ref": "#/definitions/analysisTemplate"}), definitions)
	files[filepath.Join(published, name+".json")], err = optionschema.Encode(schema)
	return err
}

// byKind is one schema for *.pipecd.yaml and the files in .pipe: the kind decides.
func byKind(files map[string][]byte) error {
	definitions, rules, all := object{}, []any{}, []string{}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		one, err := decoded(files[filepath.Join(published, name+".json")])
		if err != nil {
			return err
		}
		for key, definition := range one["definitions"].(object) {
			if known, taken := definitions[key]; taken && !reflect.DeepEqual(known, definition) {
				return fmt.Errorf("the schemas of two kinds have different definitions %s: rename one of them", key)
			}
			definitions[key] = definition
		}
		all = append(all, kinds[name]...)
		rules = append(rules, object{
			"if":   object{"properties": object{"kind": object{"enum": kinds[name]}}},
			"then": object{"properties": object{"spec": one["properties"].(object)["spec"]}},
		})
	}
	const name = "pipecd"
	schema := document(name, envelope(all, object{"type": []string{"object", "null"}}), definitions)
	schema["allOf"] = rules
	var err error
	files[filepath.Join(published, name+".json")], err = optionschema.Encode(schema)
	return err
}
