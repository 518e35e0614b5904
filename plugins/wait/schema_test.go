// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk/optionschema"
)

func TestTheSchemaIsThatOfTheTypes(t *testing.T) {
	t.Parallel()
	optionschema.Check(t, "schema.json", optionschema.Types{
		Plugin: "wait", ID: optionschema.PublishedAt("plugins/wait/schema.json"),
		Config: config{}, Stages: map[string]any{stageWait: options{}},
	})
}
