// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/optionschema"
)

func TestTheSchemaIsThatOfTheTypes(t *testing.T) {
	t.Parallel()
	optionschema.Check(t, "schema.json", optionschema.Types{
		Plugin: "scriptrun", ID: optionschema.PublishedAt("plugins/scriptrun/schema.json"),
		Config: sdk.None{}, Stages: map[string]any{stageScriptRun: options{}},
	})
}
