// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package optionschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"
)

// UpdateVariable is the environment variable that makes [Check] write the file: UPDATE_SCHEMA=1 go test ./...
const UpdateVariable = "UPDATE_SCHEMA"

// Draft is the version of JSON Schema that editors support best.
const Draft = "http://json-schema.org/draft-07/schema#"

// PublishedAt returns the address of a file of this repository, for the $id of its schemas.
func PublishedAt(file string) string {
	return "https://raw.githubusercontent.com/pipedeck/pipedeck/main/" + file
}

// Types are the types of a plugin's options. Nil stands for options that the plugin does not have.
type Types struct {
	// Plugin is the name of the plugin, for titles.
	Plugin string
	// ID is the address at which the schema is published; empty for none.
	ID string
	// Config is a value of the type of the plugin's configuration, DeployTarget of that of a deploy target, and
	// Application of that of its options in application configurations. A plugin with a DeployTarget deploys; one
	// without has stages only.
	Config, DeployTarget, Application any
	// Stages are values of the types of the options of stages, by the name of the stage. They are the stages that a
	// pipeline may hold, so rollback stages are not among them.
	Stages map[string]any
	// Extra are more definitions, by name: values of the types of other files that the plugin reads.
	Extra map[string]any
	// Omit names fields that are not options of this plugin, as "package.Type.Field".
	Omit []string
	// Spec is a JSON Schema of the spec of an application configuration, for what the options of the application and of
	// its stages have to do with each other; nil for none. What it finds is advice.
	Spec map[string]any
	// Sources are the folders of the packages of the types. Default: the folder of the test.
	Sources []string
}

// Check fails the test when the file is not the schema of the types. With UPDATE_SCHEMA=1 it writes the file.
func Check(t testing.TB, file string, types Types) {
	t.Helper()
	want, err := Generate(types)
	if err != nil {
		t.Fatalf("generate the schema of the plugin %s: %v", types.Plugin, err)
	}
	if os.Getenv(UpdateVariable) != "" {
		if err := os.WriteFile(file, want, 0o644); err != nil { //nolint:gosec // a source file
			t.Fatalf("write the schema: %v", err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("read the schema: %v", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is stale; write it with: %s=1 go test -run %s .", file, UpdateVariable, t.Name())
	}
}

// Generate returns the schema of the types.
func Generate(types Types) ([]byte, error) {
	if len(types.Sources) == 0 {
		types.Sources = []string{"."}
	}
	comments, err := ReadComments(types.Sources...)
	if err != nil {
		return nil, err
	}
	g := NewGenerator(comments)
	g.Omit = types.Omit
	roots := map[string]any{"config": types.Config, "deployTarget": types.DeployTarget,
		"application": types.Application}
	maps.Copy(roots, types.Extra)
	g.Define(roots)
	stages := Object{}
	for _, name := range slices.Sorted(maps.Keys(types.Stages)) {
		stages[name] = g.Reference(reflect.TypeOf(types.Stages[name]))
	}
	definitions, err := g.Definitions()
	if err != nil {
		return nil, err
	}
	definitions["stages"] = Object{
		"type": "object", "properties": stages, "additionalProperties": false,
		"description": "The options (with) of each stage that a pipeline may hold, by the name of the stage.",
	}
	if types.Spec != nil {
		definitions["spec"] = types.Spec
	}
	document := Object{
		"$schema": Draft, "title": "Options of the plugin " + types.Plugin, "definitions": definitions,
	}
	if types.ID != "" {
		document["$id"] = types.ID
	}
	return Encode(document)
}

// Encode returns a document as it is written to files.
func Encode(document Object) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(document)
	return b.Bytes(), err
}
