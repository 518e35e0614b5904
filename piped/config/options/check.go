// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/pipedeck/pipedeck/piped/clip"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/spelling"
)

// Plugin is a plugin as far as its options are known.
type Plugin struct {
	// Name is the name in the piped configuration.
	Name string
	// Schema is nil when it is not known: the plugin may have any options and any stages then.
	Schema *Schema
	// Stages are the stages that the piped configuration gives to the plugin.
	Stages []string
}

// Has is whether the stage is one of the plugin.
func (p Plugin) Has(stage string) bool {
	return p.Schema != nil && p.Schema.stages[stage] != nil || slices.Contains(p.Stages, stage)
}

// Checker checks files against the schemas of plugins.
type Checker struct {
	// Catalogue holds the plugins that are known by their names: those of this project and of PipeCD.
	Catalogue []Plugin
	// Plugins are those of the piped that deploys the applications. Nil when no piped is known: the catalogue counts.
	Plugins []Plugin
	// Where names, for messages, the place that lists Plugins, such as "spec.plugins of piped.yaml".
	Where string
	// Folder returns the folder of a file, with slashes and from the root of the repository that holds it. Where it is
	// nil, or known is false, paths that leave the repository are not found.
	Folder func(file string) (folder string, known bool)
	// Complete says that CheckTogether gets every application that a deployment chain can reach.
	Complete bool
	// Around adds to the report of an application what the files around it show; nil adds nothing.
	Around func(report *config.Report)
}

// plugins are those whose stages and options count.
func (c *Checker) plugins() []Plugin {
	if c.Plugins == nil {
		return c.Catalogue
	}
	return c.Plugins
}

func find(plugins []Plugin, name string) (Plugin, bool) {
	i := slices.IndexFunc(plugins, func(p Plugin) bool { return p.Name == name })
	if i < 0 {
		return Plugin{}, false
	}
	return plugins[i], true
}

// owner returns the plugin of a stage.
func owner(plugins []Plugin, stage string) (Plugin, bool) {
	i := slices.IndexFunc(plugins, func(p Plugin) bool { return p.Has(stage) })
	if i < 0 {
		return Plugin{}, false
	}
	return plugins[i], true
}

// Mistakes returns what [Checker.CheckOptions] finds, and leaves the report as it was.
func (c *Checker) Mistakes(report *config.Report) (errors, warnings config.Errors) {
	alone := *report
	alone.Errors, alone.Warnings = nil, nil
	c.CheckOptions(&alone)
	return alone.Errors, alone.Warnings
}

// CheckOptions adds to the report what is wrong in those parts of the file that plugins own: options, and names of
// stages that no plugin has.
func (c *Checker) CheckOptions(report *config.Report) {
	if report.Piped != nil {
		c.piped(report)
	}
	if report.Application != nil {
		c.application(report)
	}
	switch report.Kind {
	case config.KindAnalysisTemplate:
		c.analysisTemplate(report)
	case config.KindPluginIndex:
		checkIndex(report)
	}
	report.Sort()
}

func (c *Checker) piped(report *config.Report) {
	for i, configured := range report.Piped.Plugins {
		plugin, ok := find(c.Plugins, configured.Name)
		if !ok {
			plugin, ok = find(c.Catalogue, configured.Name)
		}
		if !ok || plugin.Schema == nil {
			continue
		}
		at := fmt.Sprintf("spec.plugins[%d]", i)
		plugin.Schema.checkPart(plugin.Schema.config, report.Value(at+".config"), plugin.Name)
		for j := range configured.DeployTargets {
			target := report.Value(fmt.Sprintf("%s.deployTargets[%d].config", at, j))
			plugin.Schema.checkPart(plugin.Schema.target, target, plugin.Name)
		}
	}
}

func (c *Checker) application(report *config.Report) {
	for _, name := range slices.Sorted(maps.Keys(report.Application.Plugins)) {
		if plugin, ok := find(c.plugins(), name); ok && plugin.Schema != nil {
			plugin.Schema.checkPart(plugin.Schema.application, report.Value("spec.plugins."+name), name)
		}
	}
	if report.Application.Pipeline != nil {
		c.pipeline(report)
	}
	c.outside(report)
	for _, plugin := range c.plugins() {
		if plugin.Schema == nil || plugin.Schema.spec == nil {
			continue
		}
		spec := report.Value("spec")
		for _, f := range plugin.Schema.findings(plugin.Schema.spec, spec) {
			if !report.Failed(spec.Path(f.path)) { // A value of the wrong form needs no advice.
				spec.Warning(f.path, f.onKey, f.message)
			}
		}
	}
}

// pipeline checks the names of stages, and their options.
func (c *Checker) pipeline(report *config.Report) {
	for i, stage := range report.Application.Pipeline.Stages {
		if stage.Name != "" && len(report.V0) == 0 {
			c.stage(report, fmt.Sprintf("spec.pipeline.stages[%d].name", i), stage.Name)
		}
		plugin, ok := owner(c.plugins(), stage.Name)
		if !ok || plugin.Schema == nil || plugin.Schema.stages[stage.Name] == nil {
			continue
		}
		at := fmt.Sprintf("spec.pipeline.stages[%d]", i)
		timeout := time.Duration(stage.Timeout)
		if report.Failed(at + ".timeout") {
			timeout = 0
		}
		plugin.Schema.checkStage(stage.Name, report, at, timeout)
	}
}

// check adds what is wrong in a value; everything is right where the schema does not say.
func (s *Schema) check(schema *jsonschema.Schema, value config.Value) {
	if schema == nil {
		return
	}
	for _, f := range s.findings(schema, value) {
		value.Error(f.path, f.onKey, f.message)
	}
	s.advise(schema, value, 0)
}

// checkPart is check for options that a plugin may not have at all, where nothing reads a key.
func (s *Schema) checkPart(schema *jsonschema.Schema, value config.Value, plugin string) {
	if schema != nil {
		s.check(schema, value)
		return
	}
	given, is := value.Any().(map[string]any)
	if !is {
		value.Error(nil, false, value.Describe(nil)+" is not allowed here: want a mapping")
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value.Error([]string{name}, true, fmt.Sprintf("unknown key %q is not read: the plugin %s has no options here",
			shorten(name), plugin))
	}
}

// envelopeKeys are keys of a stage itself that PipeCD v0 read among the options of the plugin. A file that serves both
// has them twice.
var envelopeKeys = []string{"timeout", "skipOn"}

// checkStage checks the options of a stage. A timeout of 0 is not known.
func (s *Schema) checkStage(name string, report *config.Report, at string, timeout time.Duration) {
	value := report.Value(at + ".with")
	if _, is := value.Any().(map[string]any); !is {
		return // which is an error already
	}
	for _, f := range s.findings(s.stages[name], value) {
		switch {
		case !f.unread || len(f.path) != 1 || !slices.Contains(envelopeKeys, f.path[0]):
			value.Error(f.path, f.onKey, f.message)
		case !report.Has(at + "." + f.path[0]):
			value.Warning(f.path, true, "is where PipeCD v0 had it and is not read: it belongs next to the name "+
				"of the stage; "+
				fmt.Sprintf("\"pipedeck migrate %s\" moves it there", report.File()))
		}
	}
	s.advise(s.stages[name], value, timeout)
}

// StageMistakes returns what is wrong in the options of a stage that are given by themselves, as JSON. A stage that the
// schema does not have may have any.
func (s *Schema) StageMistakes(stage string, with []byte) config.Errors {
	const at = "spec.pipeline.stages[0]"
	file, err := json.Marshal(map[string]any{
		"apiVersion": config.APIVersion, "kind": config.KindApplication,
		"spec": map[string]any{"pipeline": map[string]any{
			"stages": []any{map[string]any{"name": stage, "with": json.RawMessage(with)}},
		}},
	})
	if err != nil {
		return config.Errors{{Message: "not JSON: " + err.Error()}}
	}
	report := config.ReadApplication(file, "")
	report.Errors = slices.DeleteFunc(report.Errors, func(e *config.Error) bool {
		return !strings.HasPrefix(e.Field, at+".with")
	})
	if s.stages[stage] != nil {
		s.checkStage(stage, report, at, 0)
	}
	for _, e := range report.Errors {
		e.Field = strings.TrimPrefix(strings.TrimPrefix(e.Field, at+".with"), ".")
	}
	return report.Errors
}

func asList(value any) []any {
	list, _ := value.([]any)
	return list
}

// shorten clips a name that a message shows.
func shorten(text string) string { return clip.Characters(text, 60) }

// near is the end of a message on a name that is nearly another.
func near(name string, known []string) string {
	if nearest := spelling.Nearest(name, known); nearest != "" {
		return fmt.Sprintf("; did you mean %q?", nearest)
	}
	return ""
}

// join names several plugins.
func join(names []string) string { return strings.Join(names, ", ") }
