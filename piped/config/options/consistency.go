// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/spelling"
)

// CheckTogether adds to the reports what no single file shows: applications that share a name, that no plugin deploys,
// that name plugins and stages which the piped does not have, or whose deployment chain deploys nothing.
func (c *Checker) CheckTogether(reports ...*config.Report) {
	names := map[string]*config.Report{}
	for _, report := range reports {
		if report.Application == nil || len(report.V0) > 0 || !report.Has("spec") {
			continue
		}
		name := report.Application.Name
		switch first := names[name]; {
		case report.Failed("spec.name"):
		case name == "":
			report.Warnings = append(report.Warnings, report.Nameless())
		case first != nil:
			report.Warn("spec.name", fmt.Sprintf("%q is the name of %s as well; commands and notifications cannot "+
				"distinguish the two", shorten(name), first.File()))
		default:
			names[name] = report
		}
		c.deployable(report)
		if c.Around != nil {
			c.Around(report)
		}
		report.Sort()
	}
	if c.Complete {
		checkChains(reports)
	}
}

// deployable checks that there is a plugin for each part of an application.
func (c *Checker) deployable(report *config.Report) {
	a := report.Application
	if report.Failed("spec") || report.Failed("spec.plugins") || report.Failed("spec.pipeline") {
		return // It is not known what the file asks for.
	}
	hasPipeline := a.Pipeline != nil && len(a.Pipeline.Stages) > 0
	named := slices.Sorted(maps.Keys(a.Plugins))
	switch {
	case hasPipeline:
		for i, stage := range a.Pipeline.Stages {
			if stage.Name != "" {
				c.elsewhere(report, fmt.Sprintf("spec.pipeline.stages[%d].name", i), stage.Name)
			}
		}
	case len(named) == 0:
		report.Add("spec", "no plugin deploys this application: name one below plugins, such as "+
			"\"plugins: {kubernetes: {}}\", or give a pipeline")
	case !slices.ContainsFunc(named, func(name string) bool { return !c.stagesOnly(name) }):
		report.Add("spec.plugins", "no plugin deploys this application: "+join(named)+
			" run only as stages; name a plugin that deploys, or give a pipeline")
	}
	for _, name := range named {
		c.plugin(report, name, hasPipeline)
	}
}

// stagesOnly reports whether a plugin is known not to deploy by itself.
func (c *Checker) stagesOnly(name string) bool {
	plugin, ok := find(c.Plugins, name)
	if !ok {
		plugin, ok = find(c.Catalogue, name)
	}
	return ok && plugin.Schema != nil && !plugin.Schema.Deploys()
}

// elsewhere checks that the plugin of a known stage is among those of the piped.
func (c *Checker) elsewhere(report *config.Report, field, stage string) {
	if _, ok := owner(c.plugins(), stage); ok {
		return
	}
	if known, ok := owner(c.Catalogue, stage); ok {
		c.unlessUnknown(report, field, fmt.Sprintf("%q is a stage of the plugin %s, which is not in %s", stage,
			known.Name, c.Where))
		if c.certain() {
			noPlugin(report)
		}
	}
}

// plugin checks that the piped has the plugin. A pipeline runs without it, but nothing reads the options.
func (c *Checker) plugin(report *config.Report, name string, hasPipeline bool) {
	spec, at := report.Value("spec"), []string{"plugins", name}
	var names []string
	for _, plugin := range c.plugins() {
		names = append(names, plugin.Name)
	}
	switch {
	case slices.Contains(names, name) || c.stagesOnly(name):
	case c.Plugins == nil && spelling.Slip(name, names):
		spec.Error(at, true, fmt.Sprintf("%q is not one of PipeCD's plugins%s; a plugin of yours is named with: "+
			"pipedeck validate --plugin NAME=PATH", shorten(name), near(name, names)))
	case c.Plugins == nil:
	case hasPipeline:
		spec.Warning(at, true, fmt.Sprintf("the plugin %q is not in %s, so nothing reads its options%s",
			shorten(name), c.Where, near(name, names)))
	default:
		spec.Error(at, true, fmt.Sprintf("the plugin %q is not in %s%s", shorten(name), c.Where, near(name, names)))
		if _, known := find(c.Catalogue, name); known || !spelling.Slip(name, names) {
			noPlugin(report)
		}
	}
}

// noPlugin marks the last mistake as one of the environment, not of the file.
func noPlugin(report *config.Report) { report.Errors[len(report.Errors)-1].NoPlugin = true }
