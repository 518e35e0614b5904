// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// MaxSchema bounds the schema of a plugin, in bytes.
const MaxSchema = 1 << 20

// address is what a schema is called inside of the validator.
const address = "plugin:schema"

// Schema is the schema of the options of one plugin. It is safe for concurrent use.
type Schema struct {
	document map[string]any
	config   *jsonschema.Schema // nil, like the others, when the schema does not say
	target   *jsonschema.Schema
	// application is spec.plugins.<plugin>.
	application *jsonschema.Schema
	stages      map[string]*jsonschema.Schema
	// spec is for the whole spec of an application configuration; what it finds is advice.
	spec *jsonschema.Schema
	// template is the spec of a file of the kind AnalysisTemplate.
	template *jsonschema.Schema
	// file is a whole file, in the schemas of files.
	file *jsonschema.Schema
}

// Parse reads the schema that a plugin ships, in the form that SchemaService of api/plugin/schema describes.
func Parse(document []byte) (schema *Schema, err error) {
	if len(document) > MaxSchema {
		return nil, fmt.Errorf("the schema is larger than %d KiB", MaxSchema>>10)
	}
	defer func() {
		if r := recover(); r != nil {
			schema, err = nil, fmt.Errorf("the schema cannot be used: %v", r)
		}
	}()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	root, _ := parsed.(map[string]any)
	definitions, _ := root["definitions"].(map[string]any)
	if definitions == nil {
		return nil, errors.New("the schema has no definitions: want config, deployTarget, application or stages")
	}
	delete(root, "$id") // References are to the document itself, whatever it is called.
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	compiler.DefaultDraft(jsonschema.Draft7)
	compiler.RegisterVocabulary(vocabulary)
	for _, format := range formats {
		compiler.RegisterFormat(format)
	}
	if err := compiler.AddResource(address, root); err != nil {
		return nil, fmt.Errorf("the schema cannot be used: %w", err)
	}
	s := &Schema{document: root, stages: map[string]*jsonschema.Schema{}}
	compile := func(path ...string) *jsonschema.Schema {
		compiled, failed := compiler.Compile(address + "#" + pointer(path))
		if failed != nil && err == nil {
			err = fmt.Errorf("the schema cannot be used: %w", failed)
		}
		return compiled
	}
	for name, into := range map[string]**jsonschema.Schema{
		"config": &s.config, "deployTarget": &s.target, "application": &s.application, "spec": &s.spec,
		"analysisTemplate": &s.template, "file": &s.file,
	} {
		if definitions[name] != nil {
			*into = compile("definitions", name)
		}
	}
	stages, _ := definitions["stages"].(map[string]any)
	properties, _ := stages["properties"].(map[string]any)
	for name := range properties {
		s.stages[name] = compile("definitions", "stages", "properties", name)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Stages returns the names of the stages that a pipeline may hold, sorted.
func (s *Schema) Stages() []string { return slices.Sorted(maps.Keys(s.stages)) }

// Deploys reports whether the plugin deploys applications. One that does not has stages only.
func (s *Schema) Deploys() bool { return s.target != nil }

// noLoader refuses other documents.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("it refers to %s: a schema may refer to itself only", url)
}

var escaper = strings.NewReplacer("~", "~0", "/", "~1", "%", "%25", " ", "%20", "#", "%23")

// pointer is a JSON pointer as the fragment of an address.
func pointer(path []string) string {
	var b strings.Builder
	for _, token := range path {
		b.WriteString("/" + escaper.Replace(token))
	}
	return b.String()
}

// lookup returns the part of the document at a place that the validator names.
func (s *Schema) lookup(place string) map[string]any {
	_, fragment, _ := strings.Cut(place, "#")
	var at any = s.document
	for token := range strings.SplitSeq(strings.TrimPrefix(fragment, "/"), "/") {
		if unescaped, err := url.PathUnescape(token); err == nil {
			token = unescaped
		}
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch inner := at.(type) {
		case map[string]any:
			at = inner[token]
		case []any:
			at = nil
			for i := range inner {
				if fmt.Sprint(i) == token {
					at = inner[i]
				}
			}
		}
	}
	found, _ := at.(map[string]any)
	return found
}
