// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch/index"
	"github.com/pipedeck/pipedeck/plugins"
	"github.com/pipedeck/pipedeck/plugins/sdk/optionschema"
)

// pluginFile is the content of piped-plugin.yaml: what the piped configuration says of a plugin under development.
type pluginFile struct {
	// Config is given to the plugin; the plugin says what is in it.
	Config map[string]any `json:"config,omitempty"`
	// DeployTargets are the places that the plugin deploys to.
	DeployTargets []config.DeployTarget `json:"deployTargets,omitempty"`
	// Stages are those that go to this plugin where other plugins offer them, too.
	Stages []string `json:"stages,omitempty"`
	// Limits are what the process may use at most.
	Limits *config.PluginLimits `json:"limits,omitempty"`
}

// others adds the schemas that are not made of one type of package config.
func others(comments optionschema.Comments, files map[string][]byte) error {
	for name, value := range map[string]any{"piped-plugin": pluginFile{}, "plugin-index": index.Index{}} {
		g := newGenerator(comments)
		if name == "plugin-index" {
			g.Extend = nil // its keys have no defaults
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
	if err := analysisTemplate(files); err != nil {
		return err
	}
	return byKind(files)
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
