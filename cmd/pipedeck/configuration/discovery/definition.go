// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"path"
	"path/filepath"
	"slices"
)

// customKinds are the custom kinds of an application that it does not define, each with its first object.
func (a *Application) customKinds() (kinds []string, first map[string]object) {
	own, first := map[string]bool{}, map[string]object{}
	for _, o := range a.objects {
		if o.kind == "CustomResourceDefinition" {
			own[definedKind(o)] = true
		}
	}
	for _, o := range a.objects {
		kind := o.kind + "." + o.group
		if _, known := first[kind]; !known && !own[kind] && !o.builtIn() {
			first[kind] = o
			kinds = append(kinds, kind)
		}
	}
	return kinds, first
}

// definedKind is the kind of a definition, with its group.
func definedKind(o object) string {
	return text(at(o.node, "spec", "names", "kind")) + "." + text(at(o.node, "spec", "group"))
}

// takeDefinitions adds to each application the definitions that it alone needs, from folders that hold nothing else.
// What else is missing on a new cluster is noted.
func (d *finder) takeDefinitions() {
	users := map[string][]*Application{}
	for _, a := range d.result.Applications {
		kinds, _ := a.customKinds()
		for _, kind := range kinds {
			if file := d.defined[kind]; !slices.Contains(users[file], a) {
				users[file] = append(users[file], a)
			}
		}
	}
	for _, a := range d.result.Applications {
		kinds, first := a.customKinds()
		for _, kind := range kinds {
			file, o := d.defined[kind], first[kind]
			skipped, alone := d.definitions[path.Dir(file)]
			switch {
			case file == "":
				a.note(o.file, o.line, "%s (%s) is a custom kind, which the cluster must know", o.kind, o.group)
			case alone && a.Source == Manifests && len(users[file]) == 1:
				d.takeDefinition(a, file, skipped)
			default:
				a.note(o.file, o.line, "%s is a custom kind, which %s defines: deploy that first", o.kind, file)
			}
		}
	}
}

// takeDefinition has an application deploy a file of definitions, too.
func (d *finder) takeDefinition(a *Application, file string, skipped int) {
	relative, err := filepath.Rel(filepath.FromSlash(a.Folder), filepath.FromSlash(file))
	if err != nil || slices.Contains(a.files, filepath.ToSlash(relative)) {
		return
	}
	a.files = append(a.files, filepath.ToSlash(relative))
	a.objects = append(a.objects, d.objectsOf(file)...)
	a.addPath(file)
	a.compactPaths()
	a.Why += ", with the definition in " + file
	d.result.Skipped[skipped].Reason = "only CustomResourceDefinitions, which " + a.File() + " deploys"
}
