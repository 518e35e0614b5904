// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
)

// Document checks that the output of a command is a document of a published schema, which has every field of it and
// describes no other one, and decodes it. name is that of the schema.
func Document(t testing.TB, name, stdout string, document any) {
	t.Helper()
	require.True(t, strings.HasPrefix(stdout, "{\n  \"schema\": 1"), "the version of the form comes first:\n%s", stdout)
	requireSchema(t, schemaOf(t, name), stdout)
	require.NoError(t, json.Unmarshal([]byte(stdout), document))
}

// Lines checks that every line of an output is an event line.
func Lines(t testing.TB, stdout string) (count int) {
	t.Helper()
	schema := schemaOf(t, "event")
	for line := range strings.Lines(stdout) {
		requireSchema(t, schema, line)
		count++
	}
	return count
}

func requireSchema(t testing.TB, schema *jsonschema.Schema, text string) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err, text)
	require.NoError(t, schema.Validate(value), text)
}

// schemaOf returns a published schema that allows no field that it does not describe.
func schemaOf(t testing.TB, name string) *jsonschema.Schema {
	t.Helper()
	file := filepath.Join("docs", "schemas", "cli", name+".json")
	for range 10 {
		if _, err := os.Stat(file); err == nil {
			break
		}
		file = filepath.Join("..", file)
	}
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
	require.NoError(t, err)
	closed(value)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	require.NoError(t, compiler.AddResource("schema.json", value))
	schema, err := compiler.Compile("schema.json")
	require.NoError(t, err)
	return schema
}

// closed forbids fields that are not described.
func closed(part any) {
	switch part := part.(type) {
	case []any:
		for _, one := range part {
			closed(one)
		}
	case map[string]any:
		for _, one := range part {
			closed(one)
		}
		_, described := part["properties"].(map[string]any)
		if described && part["additionalProperties"] == nil && part["type"] == "object" {
			part["additionalProperties"] = false
		}
	}
}

// JSON returns what -o json says.
func JSON(t testing.TB) *format.Output {
	t.Helper()
	output := &format.Output{}
	cmd := &cobra.Command{}
	format.AddFlag(cmd, output)
	require.NoError(t, cmd.Flags().Set("output", "json"))
	return output
}
