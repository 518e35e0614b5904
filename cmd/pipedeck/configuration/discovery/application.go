// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/line"
)

// Kinds of Source.
const (
	Manifests = "manifests"
	Kustomize = "kustomize"
	Helm      = "helm"
)

// Application is what a folder of the repository could deploy.
type Application struct {
	// Folder is relative to the repository.
	Folder string
	// Name is unique in the repository.
	Name string
	// Source is Manifests, Kustomize or Helm.
	Source string
	// Why says what was found, in one line.
	Why string
	// Notes are what a user should know before the first deployment.
	Notes []Problem

	// files are manifests in the folder, and values files of a chart that it does not read by itself.
	files, values []string
	// options are those of kustomize, and paths are patterns of files elsewhere that belong to the application.
	options map[string]string
	paths   []string
	// namespace is the one of all objects, which is created; empty for none. alone is whether that keeps the
	// application apart from others.
	namespace string
	alone     bool
	// overlay is whether the folder is one of several of the same.
	overlay bool
	objects []object
}

// File is the file of its configuration.
func (a *Application) File() string { return path.Join(a.Folder, "app.pipecd.yaml") }

func (a *Application) note(file string, line int, format string, args ...any) {
	a.Notes = append(a.Notes, Problem{file, line, fmt.Sprintf(format, args...)})
}

// has reports whether the application is known to have an object of a kind, or may have one.
func (a *Application) has(kind string) bool {
	unknown := a.Source == Helm || a.options["enable-helm"] != ""
	return unknown || slices.ContainsFunc(a.objects, func(o object) bool { return o.kind == kind })
}

func (d *finder) add(a *Application) { d.result.Applications = append(d.result.Applications, a) }

// decide adds the application of a folder, or says why it has none.
func (d *finder) decide(f *folder) {
	if isTerraform(f) && !d.belowTerraform(f.path) {
		d.skip(f.path, "Terraform is not supported yet")
	}
	switch {
	case d.configured[f.path]:
	case d.charts[f.path] != nil:
		d.decideChart(f, d.charts[f.path])
	case d.kustomizations[f.path] != nil:
		d.decideKustomization(f, d.kustomizations[f.path])
	default:
		d.decideManifests(f)
	}
}

func isTerraform(f *folder) bool {
	return slices.ContainsFunc(f.files, func(name string) bool { return path.Ext(name) == ".tf" })
}

// belowTerraform reports whether a folder above is named as one of Terraform, too.
func (d *finder) belowTerraform(folder string) bool {
	for folder != "." {
		folder = path.Dir(folder)
		if isTerraform(d.tree.folders[folder]) {
			return true
		}
	}
	return false
}

func (d *finder) decideChart(f *folder, c *chart) {
	user := d.user(f.path)
	switch {
	case user != "":
		d.skip(f.path, "%s uses the chart", user)
	case c.library:
		d.skip(f.path, "a library chart, which is for other charts")
	case f.test != "":
		d.skip(f.path, "a chart for tests")
	case c.wrong != nil:
		d.problem(*c.wrong)
	default:
		a := &Application{Folder: f.path, Source: Helm, Why: "a Helm chart", values: c.values}
		if len(c.values) > 0 {
			a.Why += ", with values.yaml; not used: " + strings.Join(c.values, ", ")
		}
		if len(c.missing) > 0 {
			a.note(path.Join(f.path, "Chart.yaml"), 0, "needs the network: charts/ lacks %s",
				strings.Join(c.missing, ", "))
		}
		d.add(a)
	}
}

func (d *finder) decideKustomization(f *folder, k *kustomization) {
	user := d.user(f.path)
	switch {
	case k.component:
		d.skip(f.path, "a component, which is for other kustomizations")
	case user != "":
		d.skip(f.path, "%s uses it", user)
	case f.test != "":
		d.skip(f.path, "a kustomization for tests")
	default:
		d.addKustomization(k)
	}
}

func (d *finder) addKustomization(k *kustomization) {
	a := &Application{Folder: k.folder, Source: Kustomize, Why: "a kustomization", options: map[string]string{}}
	for _, part := range d.kustomizations.whole(k) {
		if part.wrong != nil {
			d.problem(*part.wrong)
			return
		}
		if part.charts {
			a.options["enable-helm"] = "true"
		}
		if part.outside {
			a.options["load-restrictor"] = "LoadRestrictionsNone"
		}
		for _, name := range part.used {
			if d.broken[path.Dir(name)] {
				return // which is named as a problem
			}
			a.addPath(name)
		}
		if part != k {
			a.addPath(part.folder)
			a.overlay = true
		}
	}
	a.compactPaths()
	if a.overlay {
		a.Why += " on " + strings.Join(k.parts, ", ")
	}
	a.objects = d.built(k, 0)
	d.add(a)
}

// addPath adds a file or a folder that is not in the application's own.
func (a *Application) addPath(name string) {
	if a.Folder != "." && name != a.Folder && !strings.HasPrefix(name, a.Folder+"/") {
		a.paths = append(a.paths, name)
	}
}

// compactPaths leaves out what is in a folder that is listed, too.
func (a *Application) compactPaths() {
	slices.Sort(a.paths)
	var kept []string
	for _, name := range slices.Compact(a.paths) {
		if len(kept) == 0 || !strings.HasPrefix(name, kept[len(kept)-1]+"/") {
			kept = append(kept, name)
		}
	}
	a.paths = kept
}

func (d *finder) decideManifests(f *folder) {
	a := &Application{Folder: f.path, Source: Manifests}
	user := ""
	for _, base := range f.files {
		name := path.Join(f.path, base)
		found := d.parsed[name]
		switch {
		case len(found) == 0:
		case d.user(name) != "":
			user = d.user(name)
		case found[0].tool() != "":
			d.skip(name, "configuration of %s", found[0].tool())
		default:
			a.files = append(a.files, base)
			a.objects = append(a.objects, found...)
		}
	}
	definitions := !slices.ContainsFunc(a.objects, func(o object) bool { return o.kind != "CustomResourceDefinition" })
	switch {
	case len(a.files) == 0 && user != "":
		d.skip(f.path, "%s uses its manifests", user)
	case len(a.files) == 0 || d.broken[f.path]:
	case f.test != "":
		d.skip(f.path, "manifests for tests")
	case definitions:
		d.definitions[f.path] = len(d.result.Skipped)
		d.skip(f.path, "only CustomResourceDefinitions (%s), which objects elsewhere need",
			strings.Join(a.kinds(), ", "))
	case !d.refuseObjects(a):
		a.Why = line.Count(len(a.files), "plain manifest") + ": " + a.summary()
		d.add(a)
	}
}

// refuseObjects notes objects that the plugin would refuse, and reports whether there are any.
func (d *finder) refuseObjects(a *Application) (refused bool) {
	seen := map[string]object{}
	for _, o := range a.objects {
		before, twice := seen[o.key()]
		switch {
		case o.kind == "":
			d.problem(Problem{o.file, o.line, "an item of a list without apiVersion and kind"})
			refused = true
		case o.name == "":
			d.problem(Problem{o.file, o.line, o.kind + " without a name, which cannot be deployed"})
			refused = true
		case twice:
			d.problem(Problem{o.file, o.line, fmt.Sprintf("%s %s is also in %s:%d, and an object is deployed once",
				o.kind, o.name, before.file, before.line)})
			refused = true
		}
		seen[o.key()] = o
	}
	return refused
}

func (o object) key() string {
	return strings.Join([]string{o.group, o.kind, o.namespace, o.name}, "/")
}

// kinds are the names of the kinds that definitions define.
func (a *Application) kinds() (names []string) {
	for _, o := range a.objects {
		names = append(names, text(at(o.node, "spec", "names", "kind")))
	}
	return names
}

// maxNamed bounds the objects that a line names.
const maxNamed = 5

// summary names the objects.
func (a *Application) summary() string {
	var names []string
	for _, o := range a.objects[:min(maxNamed, len(a.objects))] {
		names = append(names, o.kind+" "+o.name)
	}
	if more := len(a.objects) - maxNamed; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
