// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk/optionschema"
	"github.com/pipedeck/pipedeck/plugins/terraform/config"
)

func TestTheSchemaIsThatOfTheTypes(t *testing.T) {
	t.Parallel()
	optionschema.Check(t, "schema.json", optionschema.Types{
		Plugin: "terraform", ID: optionschema.PublishedAt("plugins/terraform/schema.json"),
		Config: config.Plugin{}, DeployTarget: config.Target{}, Application: config.Application{},
		Stages: config.StageOptions(), Sources: []string{"config"},
	})
}
