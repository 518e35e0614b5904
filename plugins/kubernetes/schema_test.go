// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/sdk/optionschema"
)

func TestTheSchemaIsThatOfTheTypes(t *testing.T) {
	t.Parallel()
	optionschema.Check(t, "schema.json", optionschema.Types{
		Plugin: "kubernetes", ID: optionschema.PublishedAt("plugins/kubernetes/schema.json"),
		Config: config.Plugin{}, DeployTarget: config.DeployTarget{}, Application: config.Application{},
		Stages: config.StageOptions(), Sources: []string{"config"},
		// These are for many clusters.
		Omit: []string{"config.Input.MultiTargets", "config.QuickSyncOptions.MultiOptions"},
		Spec: config.SpecSchema(),
	})
}
