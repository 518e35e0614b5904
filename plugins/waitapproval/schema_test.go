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
		Plugin: "waitapproval", ID: optionschema.PublishedAt("plugins/waitapproval/schema.json"),
		Config: sdk.None{}, Stages: map[string]any{stageWaitApproval: options{}},
	})
}
