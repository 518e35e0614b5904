// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"

	"github.com/pipedeck/pipedeck/api/plugin/schema"
)

// WithSchema returns the plugin with the JSON Schema of its options, which piped, pipedeck validate and editors check
// configuration files against. Package optionschema generates the document from the types of the options. The start of
// the plugin does not depend on it.
func (p Plugin) WithSchema(document []byte) Plugin {
	p.schema = document
	return p
}

// schemaService sends the schema to piped.
type schemaService struct {
	schema.UnimplementedSchemaServiceServer
	document []byte
}

func (s *schemaService) GetSchema(context.Context, *schema.GetSchemaRequest) (*schema.GetSchemaResponse, error) {
	return &schema.GetSchemaResponse{JsonSchema: s.document}, nil
}
