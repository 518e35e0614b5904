// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"

	"github.com/pipedeck/pipedeck/system/spelling"
)

// KindAnalysisTemplate is the kind of the file in the folder .pipe that holds templates for the stage ANALYSIS. The
// plugin analysis reads it, and its schema says what is in its spec.
const KindAnalysisTemplate = "AnalysisTemplate"

// Kinds of files that have no apiVersion and no kind, as [Report.Kind] names them.
const (
	KindPluginFile  = "piped-plugin.yaml"
	KindPluginIndex = "plugin index"
)

// Keys of the files that have no apiVersion and no kind.
var (
	envelopeKeys    = []string{"apiVersion", "kind", "spec"}
	pluginFileKeys  = []string{"config", "deployTargets", "stages", "limits"}
	pluginIndexKeys = []string{"formatVersion", "plugins"}
)

// Check decodes and checks a file that pipedeck or PipeCD v1 reads: a piped or application configuration, event watcher
// file or templates of analyses, whichever its kind says; or the configuration of a plugin under development, or a
// plugin index, which have no kind. filename is used in messages, and says what a file without a kind is.
//
// It is for people who write the file: unlike with [ParsePiped] and the other functions for agents, a key that nothing
// reads is an error, and warnings come besides errors. What plugins own, the spec of templates, and a plugin index are
// not checked, but kept for [Report.Value].
func Check(data []byte, filename string) *Report {
	d := newDecoder(filename)
	if path.Base(filename) == KindPluginFile && blankYAML.Match(data) {
		return readPluginFile(d, nil).forAuthors()
	}
	root := d.tree(data)
	switch form(root, filename) {
	case KindPluginFile:
		return readPluginFile(d, root).forAuthors()
	case KindPluginIndex:
		d.raw[""] = root
		d.places[""] = root.at
		return (&Report{Kind: KindPluginIndex, decoder: d, Errors: d.errors}).forAuthors()
	}
	return d.report(root, pipedTarget(&Piped{}), applicationTarget(&Application{}),
		eventWatcherTarget(&EventWatcherFile{}), analysisTemplateTarget()).forAuthors()
}

// form returns the kind of a file that has none; "" for a file that should have one.
func form(root *node, filename string) string {
	switch {
	case path.Base(filename) == KindPluginFile && root != nil:
		return KindPluginFile
	case root == nil || IsApplicationFilename(filename) || root.likeness(envelopeKeys) > 0:
		return ""
	case 2*root.likeness(pluginIndexKeys) > len(root.keys):
		return KindPluginIndex
	case 2*root.likeness(pluginFileKeys) > len(root.keys):
		return KindPluginFile
	}
	return ""
}

// likeness counts the keys that are among the known ones, or a slip away from one.
func (n *node) likeness(known []string) int {
	count := 0
	for _, entry := range n.keys {
		if spelling.Slip(entry.name, known) {
			count++
		}
	}
	return count
}

func analysisTemplateTarget() target {
	return target{[]string{KindAnalysisTemplate}, &json.RawMessage{}, func(d *decoder, _ string) {
		if spec := d.raw["spec"]; spec.kind != mappingNode {
			d.errorf(spec.at, "spec", "%s is not allowed here: want a mapping with keys such as metrics, logs, https",
				spec.describe())
		}
	}}
}

var (
	versionLine = regexp.MustCompile(
		`(?m)^\x{feff}?(?:\{?[ \t]*"|'?)apiVersion["']?[ \t]*:[ \t]*["']?pipecd\.dev/v1beta1\b`)
	kindLine = regexp.MustCompile(`(?m)^\x{feff}?(?:[ \t]*"|'?)kind["']?[ \t]*:[ \t]*["']?(\w+)`)
	// indexLine and digestLine are in every plugin index that names a binary.
	indexLine  = regexp.MustCompile(`(?m)^\x{feff}?\{?[ \t]*["']?plugins["']?[ \t]*:`)
	digestLine = regexp.MustCompile(`(?m)["']?sha256["']?[ \t]*:`)
)

// checkedKinds are the kinds of files that [Check] knows, those that users write today first.
func checkedKinds() []string {
	return append([]string{KindApplication, KindPiped, KindEventWatcher, KindAnalysisTemplate}, applicationKinds[1:]...)
}

// Claimed reports whether a file is one that Check knows, by its name or by what its content says, also when it is not
// valid YAML or its kind is misspelt. Other files with PipeCD's apiVersion are not.
func Claimed(data []byte, filename string) bool {
	base := path.Base(filename)
	switch {
	case base == KindPluginFile:
		return true
	case slices.Contains([]string{"index.yaml", "index.yml", "index.json"}, base) && !versionLine.Match(data):
		return indexLine.Match(data) && digestLine.Match(data)
	case !versionLine.Match(data):
		return false
	}
	kind := kindLine.FindSubmatch(data)
	return kind == nil || spelling.Slip(string(kind[1]), checkedKinds())
}
