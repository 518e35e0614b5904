// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"sync"

	"github.com/pipedeck/pipedeck/piped/config"
)

// pluginIndex is the schema of plugin indexes, which this package holds.
var pluginIndex = sync.OnceValues(func() (*Schema, error) {
	data, err := envelopes.ReadFile("envelope/plugin-index.json")
	if err != nil {
		return nil, err
	}
	return Parse(data)
})

// checkIndex checks a plugin index.
func checkIndex(report *config.Report) {
	schema, err := pluginIndex()
	if err != nil {
		report.Add("", fmt.Sprintf("cannot be checked: %s", err))
		return
	}
	schema.check(schema.file, report.Value(""))
}

// analysisTemplate checks templates by the schema of the plugin that reads them.
func (c *Checker) analysisTemplate(report *config.Report) {
	plugin, ok := find(c.plugins(), "analysis")
	if !ok {
		plugin, ok = find(c.Catalogue, "analysis")
	}
	spec := report.Value("spec")
	if _, is := spec.Any().(map[string]any); !ok || plugin.Schema == nil || !is {
		return
	}
	plugin.Schema.check(plugin.Schema.template, spec)
}

// CheckPluginFile adds to the report what is wrong in the options of a plugin under development, given its schema.
func CheckPluginFile(report *config.Report, schema *Schema) {
	const plugin = "in this directory"
	schema.checkPart(schema.config, report.Value("config"), plugin)
	for i := range report.PluginFile.DeployTargets {
		schema.checkPart(schema.target, report.Value(fmt.Sprintf("deployTargets[%d].config", i)), plugin)
	}
	report.Sort()
}
