// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/pipedeck/pipedeck/plugins/analysis/config"
	"github.com/pipedeck/pipedeck/plugins/sdk/optionschema"
)

func TestTheSchemaIsThatOfTheTypes(t *testing.T) {
	t.Parallel()
	optionschema.Check(t, "schema.json", optionschema.Types{
		Plugin: "analysis", ID: optionschema.PublishedAt("plugins/analysis/schema.json"),
		Config: config.Config{}, Application: config.Application{},
		Stages: map[string]any{stageAnalysis: config.Options{}},
		Extra: map[string]any{
			"analysisTemplate": config.Templates{}, "prometheus": config.PrometheusConfig{},
			"datadog": config.DatadogConfig{}, "stackdriver": config.StackdriverConfig{},
			"cloudwatch": config.CloudWatchConfig{},
		},
		Sources: []string{"config"},
	})
}
