// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/config/options"
	"github.com/pipedeck/pipedeck/plugins"
	"github.com/pipedeck/pipedeck/plugins/sdk/optionschema"
)

type object = optionschema.Object

// Folders of the repository.
const (
	configSources = "piped/config"
	envelopes     = "piped/config/options/envelope"
	published     = "docs/schemas"
)

// generate returns the schemas by their paths in the repository, which is at root.
func generate(root string) (map[string][]byte, error) {
	comments, err := optionschema.ReadComments(filepath.Join(root, configSources),
		filepath.Join(root, "piped/pluginhost/fetch/index"), filepath.Join(root, "docs/schemas/generate"),
		filepath.Join(root, "devenv/story"))
	if err != nil {
		return nil, err
	}
	known, err := knownPlugins()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for name, spec := range map[string]any{"piped": config.Piped{}, "application": config.Application{},
		"eventwatcher": config.EventWatcherFile{}} {
		envelope, err := ofConfiguration(comments, name, spec)
		if err != nil {
			return nil, err
		}
		if name == "eventwatcher" {
			files[filepath.Join(published, name+".json")] = envelope
			continue
		}
		files[filepath.Join(envelopes, name+".json")] = envelope
		if files[filepath.Join(published, name+".json")], err = options.ComposeInto(envelope, known); err != nil {
			return nil, err
		}
	}
	return files, errors.Join(others(comments, files), outputs(root, files))
}

func knownPlugins() ([]options.Plugin, error) {
	schemas, err := plugins.Schemas()
	if err != nil {
		return nil, err
	}
	return options.Catalogue(schemas)
}

// titles and kinds of the configuration files, by the names of their schemas.
var (
	titles = map[string]string{
		"piped": "Configuration of piped", "application": "Configuration of an application",
		"eventwatcher": "Event watcher file", "analysistemplate": "Templates of analyses",
		"piped-plugin": "Configuration of a plugin under development", "plugin-index": "Plugin index",
		"story":  "Story of pipedeck demo",
		"pipecd": "Files of PipeCD, by their kind",
	}
	kinds = map[string][]string{
		"piped": {config.KindPiped}, "application": config.ApplicationKinds(),
		"eventwatcher": {config.KindEventWatcher}, "analysistemplate": {"AnalysisTemplate"},
	}
)

// ofConfiguration is the schema of a file with apiVersion, kind and spec.
func ofConfiguration(comments optionschema.Comments, name string, spec any) ([]byte, error) {
	g := newGenerator(comments)
	reference := g.Reference(reflect.TypeOf(spec))
	definitions, err := g.Definitions()
	if err != nil {
		return nil, err
	}
	return optionschema.Encode(document(name, envelope(kinds[name], reference), definitions))
}

// envelope is what all files of PipeCD have in common.
func envelope(kinds []string, spec object) object {
	return object{
		"type": "object", "additionalProperties": false, "required": []string{"apiVersion", "kind", "spec"},
		"properties": object{
			"apiVersion": object{"const": config.APIVersion, "description": "The version of the form."},
			"kind":       object{"enum": kinds, "description": "What the file configures."},
			"spec":       spec,
		},
	}
}

// document adds to a schema what only the outermost one has.
func document(name string, schema, definitions object) object {
	schema["$schema"], schema["title"], schema["definitions"] = optionschema.Draft, titles[name], definitions
	schema["$id"] = optionschema.PublishedAt(published + "/" + name + ".json")
	return schema
}

func newGenerator(comments optionschema.Comments) *optionschema.Generator {
	g := optionschema.NewGenerator(comments)
	g.Rules, g.Extend = rules, extend
	return g
}

// rules are those of the tag config.
func rules(field reflect.StructField, property object) (required bool) {
	for rule := range strings.SplitSeq(field.Tag.Get("config"), ",") {
		if allowed, ok := strings.CutPrefix(rule, "oneof="); ok {
			property["enum"] = values(strings.Split(allowed, "|"))
		}
		switch rule {
		case "required":
			required = true
		case "positive":
			property["exclusiveMinimum"] = 0
			delete(property, "minimum")
		case "event":
			property["items"].(object)["enum"] = values(config.NotificationEvents())
		case "eventgroup":
			property["items"].(object)["enum"] = values(config.NotificationGroups())
		case "mention":
			property["enum"] = values(append(config.NotificationEvents(), "*"))
		}
	}
	return required
}

func values(texts []string) []any {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}

// extend adds what tags do not say: defaults, and keys of which one is needed.
func extend(t reflect.Type, schema object) {
	properties := schema["properties"].(object)
	defaults := config.Defaults(t)
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		property, ok := properties[name].(object)
		if value, given := defaultOf(defaults.Field(i)); ok && given {
			property["default"] = value
		}
	}
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
	case reflect.TypeFor[config.Application]():
		properties["plugins"] = object{
			"type": []string{"object", "null"}, "description": properties["plugins"].(object)["description"],
			"additionalProperties": true,
		}
	}
}

func requiring(names ...string) []any {
	var list []any
	for _, name := range names {
		list = append(list, object{"required": []string{name}})
	}
	return list
}

// defaultOf is a default as written in a file; ok is false where nothing is said.
func defaultOf(value reflect.Value) (any, bool) {
	if value.IsZero() {
		return nil, false
	}
	switch v := value.Interface().(type) {
	case config.Duration:
		text := v.String()
		for _, zero := range []string{"m0s", "h0m"} {
			if strings.HasSuffix(text, zero) {
				text = text[:len(text)-2]
			}
		}
		return text, true
	case string, bool, int:
		return v, true
	}
	return nil, false
}

// decoded is a generated document.
func decoded(data []byte) (object, error) {
	var document object
	if err := json.Unmarshal(data, &document); err != nil {
		return nil, fmt.Errorf("read a generated schema: %w", err)
	}
	return document, nil
}
