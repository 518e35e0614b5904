// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"regexp"
	"strings"
)

// blankYAML matches a file without values: blank lines, comments and marks of a document.
var blankYAML = regexp.MustCompile(`^\x{feff}?(?:(?:[ \t]*(?:#.*)?|---)\r?\n)*(?:[ \t]*(?:#.*)?|---)$`)

// PluginFile is the content of piped-plugin.yaml: what the piped configuration says of a plugin under development.
type PluginFile struct {
	// Config is given to the plugin; the plugin says what is in it.
	Config json.RawMessage `json:"config,omitempty"`
	// DeployTargets are the places that the plugin deploys to.
	DeployTargets []DeployTarget `json:"deployTargets,omitempty"`
	// Stages are those that go to this plugin where other plugins offer them, too.
	Stages []string `json:"stages,omitempty"`
	// Limits are what the process may use at most.
	Limits *PluginLimits `json:"limits,omitempty"`
	// Build is the command that builds the plugin, a program and its arguments. It runs in the directory of this file.
	Build []string `json:"build,omitempty"`
	// Run is the command that runs the plugin in the directory of this file; piped's arguments follow. Without it, the
	// directory is that of a Go package.
	Run []string `json:"run,omitempty"`
	// Watch are patterns of files, relative to the directory, that the plugin is made of: it is built and started again
	// when one changes. ** stands for any directories. Default: all files. Directories whose names begin with a dot,
	// node_modules, vendor, venv and __pycache__ are left out.
	Watch []string `json:"watch,omitempty"`
}

// PluginLinkVariable is in the program of a plugin that can talk to piped over a link: it is the name of the variable
// that gives the link to it.
const PluginLinkVariable = "PIPEDECK_PLUGIN_LINK_V1"

// ParsePluginFile decodes and checks the configuration of a plugin under development; filename is used in messages
// only. A file without values is one without keys. Mistakes, and keys that nothing reads, come back as Errors.
func ParsePluginFile(data []byte, filename string) (*PluginFile, error) {
	d := newDecoder(filename)
	d.wanted = `want the keys of a plugin, such as "config:" and "deployTargets:"`
	var root *node
	if !blankYAML.Match(data) {
		if root = d.tree(data); root == nil {
			return nil, d.sorted(d.errors)
		}
	}
	report := readPluginFile(d, root).forAuthors()
	if len(report.Errors) > 0 {
		return nil, report.Errors
	}
	return report.PluginFile, nil
}

func readPluginFile(d *decoder, root *node) *Report {
	file := &PluginFile{}
	if root != nil {
		d.decode(root, reflect.ValueOf(file).Elem(), "")
	}
	for _, field := range append([]string{"config"}, targetConfigs(file)...) {
		if n := d.raw[field]; n != nil && n.kind != mappingNode {
			d.errorf(n.at, field, "%s is not allowed here: want a mapping", n.describe())
		}
	}
	checkStages(d, "stages", file.Stages, newUnique(d))
	checkTargets(d, "deployTargets", file.DeployTargets)
	if file.Limits != nil {
		checkLimits(d, "limits", *file.Limits)
	}
	checkRecipe(d, file)
	return &Report{Kind: KindPluginFile, PluginFile: file, decoder: d, Errors: d.errors, Warnings: d.warnings}
}

// maxAnyDirectories bounds how often a pattern stands for any directories: the time to compare a name grows with its
// power.
const maxAnyDirectories = 4

// checkRecipe refuses commands and patterns that cannot be meant.
func checkRecipe(d *decoder, file *PluginFile) {
	for field, command := range map[string][]string{"build": file.Build, "run": file.Run} {
		if len(command) > 0 && command[0] == "" {
			d.fieldf(field+"[0]", "is empty: want a program")
		}
	}
	switch {
	case len(file.Run) == 0 && len(file.Build) > 0:
		d.fieldf("build", "needs run besides: the command that runs what is built")
	case len(file.Run) == 0 && len(file.Watch) > 0:
		d.fieldf("watch", "needs run besides: the command that runs the plugin")
	case len(file.Build) > 0 && len(file.Watch) == 0:
		d.fieldf("build", "needs watch besides: the files that the plugin is made of, without those that the build "+
			"writes")
	}
	for i, pattern := range file.Watch {
		_, err := path.Match(pattern, "")
		if pattern == "" || err != nil || !fs.ValidPath(pattern) || strings.Count(pattern, "**") > maxAnyDirectories {
			d.fieldf(fmt.Sprintf("watch[%d]", i),
				"%q is not allowed here: want a pattern relative to the directory, such as src/**/*.py", pattern)
		}
	}
}

// checkStages refuses names of stages that are used twice, or that no pipeline can hold.
func checkStages(d *decoder, field string, stages []string, used *unique) {
	for i, stage := range stages {
		at := fmt.Sprintf("%s[%d]", field, i)
		if stage == "" {
			d.authorf(at, "is empty: want the name of a stage")
		}
		used.add(at, stage)
	}
}

// targetConfigs returns the fields of the configurations of deploy targets.
func targetConfigs(file *PluginFile) []string {
	fields := make([]string, len(file.DeployTargets))
	for i := range fields {
		fields[i] = fmt.Sprintf("deployTargets[%d].config", i)
	}
	return fields
}

func checkTargets(d *decoder, field string, targets []DeployTarget) {
	names := newUnique(d)
	for i, target := range targets {
		at := fmt.Sprintf("%s[%d].name", field, i)
		names.add(at, target.Name)
		checkReadable(d, at, target.Name)
	}
}
