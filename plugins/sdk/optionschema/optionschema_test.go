// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package optionschema_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/optionschema"
)

type options struct {
	// Names are greeted, one after another.
	Names []string `json:"names" jsonschema:"required,pattern=^[A-Z]"`
	// Pause is the time between two Names.
	Pause sdk.Duration `json:"pause" jsonschema:"exclusiveMinimum=0,default=1s"`
	// Tone is the way to greet.
	Tone *string `json:"tone" jsonschema:"enum=warm,enum=cold,default=warm"`
	// Retries are attempts, from 1 to 5.
	Retries int `json:"retries" jsonschema:"minimum=1,maximum=5"`
	// Where is where to greet.
	Where place `json:"where"`
	// Stops are other places.
	Stops []place `json:"stops"`
	embedded
	// Old is a key of the past.
	Old any `json:"old" jsonschema:"deprecated"`
	// Token is a secret.
	Token string `json:"token" jsonschema:"writeOnly"`
	// Skipped is not an option.
	Skipped string `json:"skipped" jsonschema:"-"`
	hidden  string
}

type embedded struct {
	// Loud is louder.
	Loud bool `json:"loud"`
	// Labels are labels.
	Labels map[string]string `json:"labels"`
}

type place struct {
	// City is a city.
	City string `json:"city" jsonschema:"required"`
	// Inner is a place in the place.
	Inner *place `json:"inner"`
}

type silent struct {
	NoComment string `json:"noComment"`
}

func TestTheSchemaOfAPluginIsMadeFromItsTypes(t *testing.T) {
	t.Parallel()
	_ = options{hidden: ""}
	data, err := optionschema.Generate(optionschema.Types{
		Plugin: "greeter", ID: optionschema.PublishedAt("greeter.json"), Config: sdk.None{},
		Stages: map[string]any{"GREET": options{}, "BYE": sdk.None{}}, Sources: []string{"."},
	})
	require.NoError(t, err)
	var document struct {
		ID          string `json:"$id"`
		Definitions map[string]struct {
			Properties map[string]json.RawMessage
			Required   []string
		}
	}
	require.NoError(t, json.Unmarshal(data, &document))
	require.Equal(t, "https://raw.githubusercontent.com/pipedeck/pipedeck/main/greeter.json", document.ID)
	require.NotContains(t, document.Definitions, "deployTarget", "the plugin does not deploy")
	require.Equal(t, []string{"names"}, document.Definitions["options"].Required)
	properties := document.Definitions["options"].Properties
	for name, want := range map[string]string{
		"names": `{"type": "array", "items": {"type": "string", "pattern": "^[A-Z]"}, "minItems": 1,
			"description": "names are greeted, one after another."}`,
		"tone": `{"type": ["string", "null"], "enum": ["warm", "cold", null], "default": "warm", ` +
			`"description": "tone is the way to greet."}`,
		"retries": `{"type": ["integer", "null"], "minimum": 1, "maximum": 5, ` +
			`"description": "retries are attempts, from 1 to 5."}`,
		"where": `{"allOf": [{"$ref": "#/definitions/place"}], "description": "where is where to greet."}`,
		"stops": `{"type": ["array", "null"], "items": {"type": "object", "allOf": [{"$ref": "#/definitions/place"}]},
			"description": "stops are other places."}`,
		"loud": `{"type": ["boolean", "null"], "description": "loud is louder."}`,
		"labels": `{"type": ["object", "null"], "additionalProperties": {"type": ["string", "null"]},
			"description": "labels are labels."}`,
		"old":   `{"deprecated": true, "description": "old is a key of the past."}`,
		"token": `{"type": ["string", "null"], "writeOnly": true, "description": "token is a secret."}`,
	} {
		require.JSONEq(t, want, string(properties[name]), name)
	}
	require.Contains(t, string(properties["pause"]), `"pattern": "[1-9]"`)
	require.Contains(t, string(properties["pause"]), `"default": "1s"`)
	require.NotContains(t, properties, "skipped")
	require.NotContains(t, properties, "hidden")
	require.Len(t, properties, 10)
	require.Contains(t, document.Definitions["stages"].Properties, "BYE")
}

// pair has a rule between its fields.
type pair struct {
	// File is a file.
	File string `json:"file" jsonschema:"format=local-path"`
	// Other is another one.
	Other string `json:"other"`
}

func (pair) ExtendSchema(schema map[string]any) { schema["minProperties"] = 1 }

func TestATypeAddsRulesBetweenItsFields(t *testing.T) {
	t.Parallel()
	data, err := optionschema.Generate(optionschema.Types{Plugin: "greeter", Config: pair{}})
	require.NoError(t, err)
	var document struct{ Definitions map[string]json.RawMessage }
	require.NoError(t, json.Unmarshal(data, &document))
	require.JSONEq(t, `{"type": ["object", "null"], "additionalProperties": false, "minProperties": 1, "properties": {
		"file": {"type": ["string", "null"], "format": "local-path", "description": "file is a file."},
		"other": {"type": ["string", "null"], "description": "other is another one."}
	}}`, string(document.Definitions["config"]))
}

func TestAFieldWithoutACommentIsAMistake(t *testing.T) {
	t.Parallel()
	_, err := optionschema.Generate(optionschema.Types{Plugin: "greeter", Config: silent{}})
	require.ErrorContains(t, err, "the field NoComment of optionschema_test.silent has no comment")
	_, err = optionschema.Generate(optionschema.Types{Plugin: "greeter", Config: "text"})
	require.ErrorContains(t, err, "want a struct")
	_, err = optionschema.Generate(optionschema.Types{Plugin: "greeter", Sources: []string{t.TempDir()}})
	require.ErrorContains(t, err, "holds no Go files")
}

func TestAStaleSchemaIsReported(t *testing.T) {
	t.Parallel()
	types := optionschema.Types{Plugin: "greeter", Config: sdk.None{}}
	want, err := optionschema.Generate(types)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "schema.json")
	inner := &recorder{TB: t}
	optionschema.Check(inner, file, types)
	require.Contains(t, inner.said, "is stale; write it with: UPDATE_SCHEMA=1 go test")
	require.NoError(t, os.WriteFile(file, want, 0o600))
	inner = &recorder{TB: t}
	optionschema.Check(inner, file, types)
	require.Empty(t, inner.said)
}

// recorder keeps what a test would fail with.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Errorf(format string, args ...any) { r.said += fmt.Sprintf(format, args...) }
