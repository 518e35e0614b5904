// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// maxSchemas bounds the documents that the schema of a chart may have fetched.
const maxSchemas = 64

// schemaURL is what a schema is called inside of the validator: relative references begin there.
const schemaURL = "file:///values.schema.json"

// schemaCheck holds the values against the schemas of a chart and of its dependencies, as Helm does. Unlike Helm it
// reads no file of this machine, which a reference of a schema may name in many ways, and no error shows a value, which
// may be secret; it says where the value was given.
type schemaCheck struct {
	guard  *guard
	loaded *loaded
	given  *given
}

// values checks those of a chart. path is that of the chart in the values, and above are the values that the charts
// bring which it belongs to.
func (s *schemaCheck) values(ctx context.Context, chrt *chart.Chart, values common.Values, path []string,
	above []defaults) error {
	below := slices.Concat(above, s.loaded.defaultsOf(chrt, len(path)))
	if len(chrt.Schema) > 0 {
		if err := s.check(ctx, chrt.Schema, values, path, below); err != nil {
			return fmt.Errorf("values.schema.json of %s: %w", chrt.Name(), err)
		}
	}
	for _, dependency := range chrt.Dependencies() {
		part, exists := values[dependency.Name()]
		if !exists || part == nil {
			continue
		}
		var inner map[string]any
		switch part := part.(type) {
		case map[string]any:
			inner = part
		case common.Values:
			inner = part
		default:
			return fmt.Errorf("the values of %s are %T, not a map", dependency.Name(), part)
		}
		if err := s.values(ctx, dependency, inner, append(slices.Clone(path), dependency.Name()), below); err != nil {
			return err
		}
	}
	return nil
}

func (s *schemaCheck) check(ctx context.Context, data []byte, values common.Values, path []string,
	below []defaults) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it cannot be used: %v", r)
		}
	}()
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	loader := &schemaLoader{ctx: ctx, guard: s.guard}
	compiler.UseLoader(loader)
	if err := compiler.AddResource(schemaURL, schema); err != nil {
		return fmt.Errorf("it cannot be used: %w", err)
	}
	validator, err := compiler.Compile(schemaURL)
	switch {
	case loader.failed != nil:
		return loader.failed
	case err != nil:
		return fmt.Errorf("it cannot be used: %w", err)
	}
	err = validator.Validate(values.AsMap())
	if invalid, is := errors.AsType[*jsonschema.ValidationError](err); is {
		hideValues(invalid)
		return errors.New(strings.Join(s.reasons(invalid, path, below), "; "))
	}
	return err
}

// schemaLoader gets what a schema refers to.
type schemaLoader struct {
	ctx    context.Context
	guard  *guard
	loaded int
	// failed is the first error, in our words.
	failed error
}

var _ jsonschema.URLLoader = (*schemaLoader)(nil)

// Load gets a document from another machine.
func (l *schemaLoader) Load(address string) (any, error) {
	document, err := l.load(address)
	if err != nil && l.failed == nil {
		l.failed = err
	}
	return document, err
}

func (l *schemaLoader) load(address string) (any, error) {
	if l.loaded++; l.loaded > maxSchemas {
		return nil, fmt.Errorf("it refers to more than %d other documents", maxSchemas)
	}
	switch scheme, _, _ := strings.Cut(address, ":"); strings.ToLower(scheme) {
	case "http", "https":
		data, err := anonymous(address, l.guard).get(l.ctx, address, maxValues)
		if err != nil {
			return nil, fmt.Errorf("get %s: %w", shownURL(address), err)
		}
		return jsonschema.UnmarshalJSON(bytes.NewReader(data))
	case "urn":
		return true, nil // Helm: what a name stands for is not known, so that it demands nothing
	}
	return nil, fmt.Errorf("it refers to a file: %w", errNotRead)
}

// hideValues takes the values out of those kinds of errors that quote them.
func hideValues(e *jsonschema.ValidationError) {
	const hidden = "the value"
	switch k := e.ErrorKind.(type) {
	case *kind.Pattern:
		k.Got = hidden
	case *kind.Format:
		k.Got, k.Err = hidden, errors.New("it is not shown")
	case *kind.ContentEncoding:
		k.Err = errors.New("it is not shown")
	case *kind.ContentMediaType:
		k.Err = errors.New("it is not shown")
	}
	for _, cause := range e.Causes {
		hideValues(cause)
	}
}

// reasons are what is wrong, each with the value and its place: "prod.yaml:3: store.size: got string, want integer".
func (s *schemaCheck) reasons(e *jsonschema.ValidationError, path []string, below []defaults) []string {
	var all []string
	_, isTop := e.ErrorKind.(*kind.Schema)
	if _, isReference := e.ErrorKind.(*kind.Reference); !isTop && !isReference {
		all = append(all, s.reason(e, path, below))
	}
	var causes [][]string // the validator sorts none
	for _, cause := range e.Causes {
		causes = append(causes, s.reasons(cause, path, below))
	}
	slices.SortFunc(causes, slices.Compare)
	return slices.Concat(append([][]string{all}, causes...)...)
}

func (s *schemaCheck) reason(e *jsonschema.ValidationError, path []string, below []defaults) string {
	value := slices.Concat(path, e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		value = append(value, k.Properties[:min(1, len(k.Properties))]...)
	case *kind.Required:
		value = append(value, k.Missing[:min(1, len(k.Missing))]...)
	}
	// The whole error would name the place in the values as a pointer, and its causes.
	text := strings.TrimPrefix((&jsonschema.ValidationError{ErrorKind: e.ErrorKind}).Error(), "at '': ")
	if len(value) > 0 {
		text = strings.Join(value, ".") + ": " + text
	}
	if at := s.given.place(value, below); at != "" {
		text = at + ": " + text
	}
	return text
}
