// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/piped/config"
)

// Result is what a repository holds.
type Result struct {
	// Applications are those that have no configuration yet.
	Applications []*Application
	// Existing are the application configurations that are there.
	Existing []string
	Skipped  []Skipped
	Problems []Problem
}

// Skipped is a file or a folder that gets no application.
type Skipped struct {
	Path, Reason string
}

// Problem is a mistake in a file that keeps it from being deployed.
type Problem struct {
	File    string
	Line    int
	Message string
}

// finder looks at a repository.
type finder struct {
	tree *tree
	// source is where files are read: tree, or the commit of an application.
	source         Tree
	result         *Result
	kustomizations kustomizations
	charts         map[string]*chart
	// parsed are the manifests by their files. Files that are none have no entry.
	parsed map[string][]object
	// users are files and folders that others use, each with one that does; holders are folders of which all is used.
	users, holders map[string]string
	// configured are the folders of the application configurations that are there, and taken their names.
	configured, taken map[string]bool
	// broken are folders with a manifest that cannot be read.
	broken map[string]bool
	// defined are the custom kinds that the repository defines, each with the file, and definitions are the folders
	// that hold nothing else, each with its place in Result.Skipped.
	defined     map[string]string
	definitions map[string]int
}

func newFinder(t *tree) *finder {
	return &finder{
		tree: t, source: t, result: &Result{}, kustomizations: kustomizations{}, charts: map[string]*chart{},
		parsed: map[string][]object{}, users: map[string]string{}, holders: map[string]string{},
		configured: map[string]bool{}, taken: map[string]bool{}, broken: map[string]bool{},
		defined: map[string]string{}, definitions: map[string]int{},
	}
}

// Find returns what the repository at root could deploy, below one of its folders; "." is all. name is that of the
// repository.
func Find(ctx context.Context, root, below, name string) (*Result, error) {
	opened, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	t, err := readTree(ctx, opened)
	if err != nil {
		return nil, err
	}
	d := newFinder(t)
	d.result.Skipped = t.skipped
	for _, step := range []func(*folder) error{d.readConfigured, d.readParts, d.readManifests} {
		for _, dir := range sorted(t.folders) {
			if err := ctx.Err(); err != nil {
				return nil, context.Cause(ctx)
			}
			if err := step(t.folders[dir]); err != nil {
				return nil, err
			}
		}
	}
	d.noteUsers()
	for _, dir := range sorted(t.folders) {
		d.decide(t.folders[dir])
	}
	nameAll(d.result.Applications, name, d.taken)
	d.completeAll()
	d.keep(below)
	if len(d.result.Applications) > maxFound {
		return nil, &LimitError{fmt.Sprintf("%d folders to deploy", maxFound)}
	}
	return d.result, nil
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// keep leaves out what is not below a folder.
func (d *finder) keep(below string) {
	outside := func(name string) bool {
		return below != "." && name != below && !strings.HasPrefix(name, below+"/")
	}
	r := d.result
	r.Applications = slices.DeleteFunc(r.Applications, func(a *Application) bool { return outside(a.Folder) })
	r.Existing = slices.DeleteFunc(r.Existing, outside)
	r.Skipped = slices.DeleteFunc(r.Skipped, func(s Skipped) bool { return outside(s.Path) })
	r.Problems = slices.DeleteFunc(r.Problems, func(p Problem) bool { return outside(p.File) })
	slices.SortStableFunc(r.Skipped, func(a, b Skipped) int { return strings.Compare(a.Path, b.Path) })
	slices.SortStableFunc(r.Problems, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
}

// unread notes a file that cannot be read. It is an error only when nothing more can be read.
func (d *finder) unread(file string, err error) error {
	if limit := (*LimitError)(nil); errors.As(err, &limit) {
		return err
	}
	d.problem(Problem{File: file, Message: "cannot be read: " + plain(err)})
	return nil
}

// problem notes a mistake once, however many applications it keeps from being deployed.
func (d *finder) problem(p Problem) {
	if !slices.Contains(d.result.Problems, p) {
		d.result.Problems = append(d.result.Problems, p)
	}
}

func (d *finder) skip(name, format string, args ...any) {
	d.result.Skipped = append(d.result.Skipped, Skipped{name, fmt.Sprintf(format, args...)})
}

// readParts reads the chart or the kustomization of a folder.
func (d *finder) readParts(f *folder) error {
	if f.chart {
		c, err := d.readChart(f)
		d.charts[f.path] = c
		return err
	}
	k, err := d.readKustomization(f)
	if k != nil {
		d.kustomizations[f.path] = k
	}
	return err
}

// manifestSuffixes are those of the files that the plugin reads.
var manifestSuffixes = []string{".yaml", ".yml", ".json"}

// readManifests reads the files of a folder that may be manifests.
func (d *finder) readManifests(f *folder) error {
	if f.chart {
		return nil
	}
	for _, base := range f.files {
		name := path.Join(f.path, base)
		if !slices.Contains(manifestSuffixes, path.Ext(base)) || config.IsApplicationFilename(base) ||
			slices.Contains(kustomizationNames, base) {
			continue
		}
		data, err := d.source.Content(name)
		if errors.Is(err, errTooLarge) {
			d.skip(name, "%v", err)
			continue
		}
		if err != nil {
			if err := d.unread(name, err); err != nil {
				return err
			}
			continue
		}
		found, err := objects(data, name)
		if wrong := (*syntaxError)(nil); errors.As(err, &wrong) {
			d.broken[f.path] = true
			if f.test == "" {
				d.problem(Problem{File: name, Line: wrong.line, Message: wrong.message})
			}
			continue
		}
		if len(found) > 0 && generated(data) {
			d.skip(name, "it was generated: its first lines say so")
			continue
		}
		if len(found) > 0 {
			d.parsed[name] = found
		}
		for _, o := range found {
			if o.kind == "CustomResourceDefinition" {
				d.defined[definedKind(o)] = name
			}
		}
	}
	return nil
}

func (d *finder) objectsOf(file string) []object { return slices.Clone(d.parsed[file]) }

// noteUsers notes what kustomizations and charts use.
func (d *finder) noteUsers() {
	for _, dir := range sorted(d.kustomizations) {
		k := d.kustomizations[dir]
		for _, name := range k.used {
			d.use(name, k.file)
		}
		for _, name := range k.parts {
			if name != dir {
				d.use(name, k.file)
			}
		}
		if k.chartHome != "" && k.chartHome != "." {
			d.holders[k.chartHome] = k.file
		}
	}
	for _, dir := range sorted(d.charts) {
		for _, name := range d.charts[dir].uses {
			d.use(name, path.Join(dir, "Chart.yaml"))
		}
	}
}

func (d *finder) use(name, user string) {
	if d.users[name] == "" {
		d.users[name] = user
	}
}

// user returns what uses a file or a folder; empty for none.
func (d *finder) user(name string) string {
	for at := name; at != "." && d.users[name] == ""; at = path.Dir(at) {
		if user := d.holders[at]; user != "" {
			return user
		}
	}
	return d.users[name]
}
