// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// ownNamespaces are in every cluster.
var ownNamespaces = []string{"", "default", "kube-system", "kube-public", "kube-node-lease"}

// completeAll adds what the applications need to be deployed side by side on a new cluster.
func (d *finder) completeAll() {
	d.takeDefinitions()
	owners := map[string][]*Application{}
	for _, a := range d.result.Applications {
		a.chooseNamespace()
		for _, key := range a.keys() {
			owners[key] = append(owners[key], a)
		}
	}
	for _, a := range d.result.Applications {
		if slices.ContainsFunc(a.keys(), func(key string) bool { return len(owners[key]) > 1 }) {
			a.keepApart()
		}
	}
	d.noteSame()
}

// keys identify the objects in the cluster, each once.
func (a *Application) keys() (keys []string) {
	for _, o := range a.objects {
		if o.kind == "Namespace" {
			continue // several may bring the same
		}
		keys = append(keys, a.placed(o).key())
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// placed is an object in the namespace that it is deployed to.
func (a *Application) placed(o object) object {
	switch {
	case o.scoped():
		o.namespace = ""
	case a.namespace != "":
		o.namespace = a.namespace
	case o.namespace == "":
		o.namespace = "default"
	}
	return o
}

// namespaces are those that objects ask for, with the first object of each.
func (a *Application) namespaces() (names []string, first map[string]object) {
	first = map[string]object{}
	for _, o := range a.objects {
		if _, known := first[o.namespace]; !known && !o.scoped() {
			first[o.namespace] = o
		}
	}
	return sorted(first), first
}

// chooseNamespace has the namespace created that all objects are in, unless the application brings it itself.
func (a *Application) chooseNamespace() {
	names, first := a.namespaces()
	names = slices.DeleteFunc(names, func(name string) bool {
		return slices.Contains(ownNamespaces, name) || slices.ContainsFunc(a.objects, func(o object) bool {
			return o.kind == "Namespace" && o.name == name
		})
	})
	switch {
	case len(names) == 1 && len(first) == 1:
		a.namespace = names[0]
	default:
		for _, name := range names {
			a.note(first[name].file, first[name].line, "the namespace %s must exist before", name)
		}
	}
}

// keepApart gives an application that shares objects with others a separate namespace, where its manifests leave that
// open.
func (a *Application) keepApart() {
	names, _ := a.namespaces()
	open := !slices.ContainsFunc(names, func(name string) bool { return name != "" && name != "default" })
	if open && len(names) > 0 && a.namespace == "" {
		a.namespace, a.alone = a.Name, true
	}
}

// noteSame notes the objects that several applications deploy nevertheless.
func (d *finder) noteSame() {
	owners := map[string]*Application{}
	for _, a := range d.result.Applications {
		noted := map[*Application]bool{}
		for _, o := range a.objects {
			key := a.placed(o).key()
			other := owners[key]
			if o.kind == "Namespace" || other == a {
				continue
			}
			if other == nil {
				owners[key] = a
				continue
			}
			if !noted[other] {
				a.note(o.file, o.line, "%s also deploys %s %s: keep one of the two", other.Name, o.kind, o.name)
			}
			noted[other] = true
		}
	}
}

// plain is an error of a file in few words.
func plain(err error) string {
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		err = failed.Err
	}
	return strings.TrimPrefix(err.Error(), "openat ")
}
