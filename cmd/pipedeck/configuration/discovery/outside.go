// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/trigger/due"
)

// Tree is the files of a repository, named by slash-separated paths from its root.
type Tree interface {
	// Kind says what there is; nothing for what is outside of the repository.
	Kind(name string) (isFile, isFolder bool)
	Content(name string) ([]byte, error)
	// Files are the base names of the files directly in a folder.
	Files(folder string) []string
}

const (
	// maxOutside bounds the paths that a warning names.
	maxOutside = 5
	// maxParts bounds the kustomizations and charts that are followed for one application.
	maxParts = 200
)

// WarnOutside warns of inputs of an application that are not in its directory, and that trigger.onCommit.paths does not
// cover: a commit there deploys nothing. file is the configuration from the root of the repository.
func WarnOutside(tree Tree, file string, report *config.Report) {
	a := report.Application
	if a == nil || len(report.V0) > 0 || a.Trigger.OnCommit.Disabled || report.Failed("spec.trigger.onCommit.paths") {
		return
	}
	o := newOutside(tree, path.Dir(file))
	for _, plugin := range []string{"kubernetes", "kubernetes_multicluster"} {
		if _, used := a.Plugins[plugin]; used {
			o.readInput(mapping(mapping(report.Value("spec.plugins." + plugin).Any())["input"]))
		}
	}
	missed := o.uncovered(a.Trigger.OnCommit)
	if len(missed) == 0 {
		return
	}
	pronoun := "it"
	if len(missed) > 1 {
		pronoun = "them"
	}
	shown := strings.Join(missed[:min(len(missed), maxOutside)], ", ")
	if more := len(missed) - maxOutside; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	report.Warn("spec.trigger.onCommit.paths", fmt.Sprintf("the application uses %s outside of its directory: a "+
		"commit that changes only %s deploys nothing, unless paths lists %s", shown, pronoun, pronoun))
}

// outside gathers the files that an application in a folder is made of.
type outside struct {
	*finder
	folder string
	// files are those outside, each with what a user would list of it: itself, or the chart or the kustomization.
	files map[string]string
	parts int
}

func newOutside(tree Tree, folder string) *outside {
	d := newFinder(nil)
	d.source = tree
	return &outside{finder: d, folder: folder, files: map[string]string{}}
}

// readInput reads what the configuration says of manifests. A chart takes the place of a kustomization, and both that
// of manifests.
func (o *outside) readInput(input map[string]any) {
	values := mapping(input["helmOptions"])
	for _, name := range append(list(values["valueFiles"]), listValues(values["setFiles"])...) {
		o.addFile(o.folder, name)
	}
	chart, isChart := mapping(input["helmChart"])["path"].(string)
	switch {
	case isChart:
		o.addChart(path.Join(o.folder, chart))
	case !o.addKustomization(o.folder):
		o.addManifests(o.folder, list(input["manifests"]))
	}
	targets, _ := input["multiTargets"].([]any)
	for _, entry := range targets {
		target := mapping(entry)
		folder := o.folder
		if dir, given := target["kustomizeDir"].(string); given {
			folder = path.Join(o.folder, dir)
			o.addKustomization(folder)
		}
		o.addManifests(folder, list(target["manifests"]))
	}
}

// addManifests adds files, and those that the plugin reads of folders.
func (o *outside) addManifests(from string, names []string) {
	for _, name := range names {
		folder := path.Join(from, name)
		if _, isFolder := o.source.Kind(folder); !isFolder {
			o.addFile(from, name)
			continue
		}
		for _, base := range o.source.Files(folder) {
			if slices.Contains(manifestSuffixes, path.Ext(base)) {
				o.add(path.Join(folder, base), folder)
			}
		}
	}
}

// addChart adds a chart, and those next to it that it depends on.
func (o *outside) addChart(folder string) {
	if o.parts++; o.parts > maxParts {
		return
	}
	c, err := o.readChart(o.at(folder))
	if err != nil || c.wrong != nil {
		return // pipedeck validate and the plugin say what is wrong
	}
	for _, below := range []string{"", "templates", "crds"} {
		for _, base := range o.source.Files(path.Join(folder, below)) {
			o.add(path.Join(folder, below, base), folder)
		}
	}
	for _, used := range c.uses {
		if used != folder {
			o.addChart(used)
		}
	}
}

// addKustomization adds a kustomization with all that it is made of; false when the folder has none.
func (o *outside) addKustomization(folder string) bool {
	k := o.load(folder)
	if k == nil {
		return false
	}
	for _, part := range o.kustomizations.whole(k) {
		o.add(part.file, part.folder)
		for _, name := range part.used {
			o.add(name, name)
		}
		if part.chartHome != "" {
			o.addChartHome(part)
		}
	}
	return true
}

// addChartHome adds the charts that a kustomization renders.
func (o *outside) addChartHome(k *kustomization) {
	charts := field(k.root, "helmCharts")
	for _, entry := range charts.Content {
		if name := text(field(resolved(entry), "name")); name != "" {
			if folder := path.Join(k.chartHome, name); o.isFolder(folder) {
				o.addChart(folder)
			}
		}
	}
}

// load reads the kustomization of a folder, and those that it uses; nil when it has none that can be read.
func (o *outside) load(folder string) *kustomization {
	if known, is := o.kustomizations[folder]; is {
		return known
	}
	if o.parts++; o.parts > maxParts {
		return nil
	}
	o.kustomizations[folder] = nil // also while it is read: it may use itself
	k, err := o.readKustomization(o.at(folder))
	if err != nil || k == nil || k.root == nil {
		return nil
	}
	o.kustomizations[folder] = k
	for _, part := range k.parts {
		o.load(part)
	}
	return k
}

func (o *outside) at(name string) *folder { return &folder{path: name, files: o.source.Files(name)} }

func (o *outside) isFolder(name string) bool {
	_, is := o.source.Kind(name)
	return is
}

// addFile adds a file that is named from a folder. What is not in the repository is left out, such as a URL.
func (o *outside) addFile(from, name string) {
	file := path.Join(from, name)
	if is, _ := o.source.Kind(file); is && !strings.Contains(name, "://") {
		o.add(file, file)
	}
}

// add notes a file outside of the application's directory, which belongs to what a user would list.
func (o *outside) add(file, listed string) {
	if o.folder == "." || strings.HasPrefix(file, o.folder+"/") {
		return
	}
	if listed == "." || o.folder == listed || strings.HasPrefix(o.folder, listed+"/") {
		listed = file // the whole folder holds the application itself
	}
	o.files[file] = listed
}

// uncovered returns what a user would list of the files that the rule says nothing of, sorted.
func (o *outside) uncovered(rule config.OnCommit) (missed []string) {
	named := config.OnCommit{Paths: slices.Concat(rule.Paths, rule.Ignores)} // those that it ignores are meant, too
	for file, listed := range o.files {
		if _, touched, err := due.Touches(named, o.folder, []string{file}); err == nil && !touched {
			missed = append(missed, listed)
		}
	}
	slices.Sort(missed)
	var kept []string
	for _, name := range slices.Compact(missed) {
		if len(kept) == 0 || !strings.HasPrefix(name, kept[len(kept)-1]+"/") {
			kept = append(kept, name)
		}
	}
	return kept
}

func mapping(value any) map[string]any {
	m, _ := value.(map[string]any)
	return m
}

func list(value any) (texts []string) {
	entries, _ := value.([]any)
	for _, entry := range entries {
		if text, is := entry.(string); is && text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

func listValues(value any) (texts []string) {
	for _, entry := range mapping(value) {
		if text, is := entry.(string); is && text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}
