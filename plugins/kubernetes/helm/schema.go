// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// checkValues holds the values against the schemas of a chart and of its dependencies, as Helm does. Unlike Helm it
// reads no file of this machine, which a reference of a schema may name in many ways, and no error shows a value, which
// may be secret.
func (c *Charts) checkValues(ctx context.Context, g *guard, chrt *chart.Chart, values common.Values) error {
	if len(chrt.Schema) > 0 {
		if err := checkSchema(ctx, g, chrt.Schema, values); err != nil {
			return fmt.Errorf("values.schema.json of %s: %w", chrt.Name(), err)
		}
	}
	for _, dependency := range chrt.Dependencies() {
		given, exists := values[dependency.Name()]
		if !exists || given == nil {
			continue
		}
		var below map[string]any
		switch given := given.(type) {
		case map[string]any:
			below = given
		case common.Values:
			below = given
		default:
			return fmt.Errorf("the values of %s are %T, not a map", dependency.Name(), given)
		}
		if err := c.checkValues(ctx, g, dependency, below); err != nil {
			return err
		}
	}
	return nil
}

func checkSchema(ctx context.Context, g *guard, data []byte, values common.Values) (err error) {
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
	loader := &schemaLoader{ctx: ctx, guard: g}
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
		return errors.New(oneLine(invalid))
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

// oneLine leaves the first line away, which names the schema.
func oneLine(e *jsonschema.ValidationError) string {
	var reasons []string
	for _, line := range strings.Split(e.Error(), "\n")[1:] {
		reasons = append(reasons, strings.TrimPrefix(strings.TrimSpace(line), "- "))
	}
	return strings.Join(reasons, "; ")
}
