// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// published compiles the schema of a definition in testdata/published.yaml.
func published(t *testing.T, definition string) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "published.yaml"))
	require.NoError(t, err)
	var document any
	require.NoError(t, yaml.Unmarshal(text, &document))
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	require.NoError(t, compiler.AddResource("published", document))
	schema, err := compiler.Compile("published#/$defs/" + definition)
	require.NoError(t, err)
	return schema
}

// Golden files hold what a stage writes, not what a provider takes: a field with a slip in its name would be dropped
// in silence.
func TestAnIngressIsWrittenAsItsControllerDocumentsIt(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/steered-nginx-*.golden.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		written, err := manifest.Parse(text, file)
		require.NoError(t, err)
		for _, m := range written {
			require.NoError(t, published(t, m.GetKind()).Validate(plain(t, m.Object["spec"])), file)
			require.NoError(t, published(t, "canaryAnnotations").Validate(plain(t, m.GetAnnotations())), file)
		}
		m := written[0]
		m.Object["spec"].(map[string]any)["mirrrors"] = true
		require.Error(t, published(t, m.GetKind()).Validate(plain(t, m.Object["spec"])), "a field that does not exist")
	}
}

// plain is a value as JSON has it.
func plain(t *testing.T, value any) (decoded any) {
	t.Helper()
	data, err := json.Marshal(value)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &decoded))
	return decoded
}
