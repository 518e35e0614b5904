// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/checkout"
)

// kustomizationFiles are the names that kustomize looks for.
var kustomizationFiles = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// originAnnotation is where kustomize writes which file a resource comes from.
const originAnnotation = "config.kubernetes.io/origin"

// kustomizationFile returns the name of a folder's kustomization, or "".
func kustomizationFile(tree *checkout.Tree, dir string) string {
	for _, name := range kustomizationFiles {
		if tree.Kind(filepath.Join(dir, name)) == checkout.File {
			return name
		}
	}
	return ""
}

// kustomize renders the kustomization of req.Dir. Bases may lie anywhere in the checkout, but not outside of it.
func (l *Loader) kustomize(ctx context.Context, tree *checkout.Tree, req Request, name string) (*result, error) {
	flags, err := parseKustomizeOptions(req.KustomizeOptions)
	if err != nil {
		return nil, err
	}
	dir, err := tree.Resolve(req.Dir)
	if err != nil {
		return nil, err
	}
	out := &result{fixed: true}
	disk := &kustomizeDisk{tree: tree, root: filepath.Join(dir, name), rendered: map[string]*virtualFile{}}
	charts := &inflater{loader: l, request: req, flags: flags, disk: disk, out: out}
	disk.render = func(at string, k *kustomization) error { return charts.inflate(ctx, at, k) }
	l.kustomizing.Lock()
	defer l.kustomizing.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	resources, err := krusty.MakeKustomizer(flags.options).Run(disk, dir)
	if err != nil {
		return nil, disk.explain(name, err)
	}
	places := places{tree: tree, disk: disk, dir: dir, parsed: map[string][]Manifest{}}
	for _, r := range resources.Resources() {
		origin := places.of(name, r)
		data, err := r.AsYAML()
		if err != nil {
			return nil, fmt.Errorf("%s: kustomize: %s: %w", name, r.CurId(), err)
		}
		parsed, err := Parse(data, name)
		if err != nil {
			return nil, fmt.Errorf("%s: as kustomize renders it: %w", origin, err)
		}
		for _, m := range parsed {
			m.Origin = origin
			if !disk.ownOrigins {
				dropAnnotation(m, originAnnotation)
			}
			out.manifests = append(out.manifests, m)
		}
	}
	return out, nil
}

func dropAnnotation(m Manifest, key string) {
	annotations := m.GetAnnotations()
	delete(annotations, key)
	if len(annotations) == 0 {
		annotations = nil // or an empty map would stay
	}
	m.SetAnnotations(annotations)
}

// explain returns the reason that a user can act on: what was found in a file goes before what kustomize makes of it.
func (d *kustomizeDisk) explain(name string, err error) error {
	if d.failed != nil {
		return d.failed
	}
	for _, path := range d.read {
		if ext := filepath.Ext(path); ext != ".yaml" && ext != ".yml" {
			continue
		}
		data, readErr := d.tree.ReadFile(path)
		if readErr != nil {
			continue
		}
		if _, broken := decodeYAML(data, d.name(path)); broken != nil &&
			strings.Contains(broken.Error(), notValidYAML) {
			return broken
		}
	}
	var left *checkout.OutsideError
	if errors.As(err, &left) {
		return fmt.Errorf("%s: kustomize: %w", name, left)
	}
	return fmt.Errorf("%s: kustomize: %s", name, d.tree.Plain(err.Error()))
}

// name is a path relative to the application's directory.
func (d *kustomizeDisk) name(path string) string {
	if rel, err := filepath.Rel(filepath.Dir(d.root), path); err == nil {
		return filepath.ToSlash(rel)
	}
	return d.tree.Name(path)
}

// places finds where the resources stand that kustomize gives.
type places struct {
	tree *checkout.Tree
	disk *kustomizeDisk
	// dir is the application's directory.
	dir    string
	parsed map[string][]Manifest
}

// of returns the file and lines of a resource before it was changed, or at least the kustomization.
func (p *places) of(kustomization string, r *resource.Resource) Origin {
	origin, err := r.GetOrigin()
	if err != nil || origin == nil || origin.Repo != "" {
		return Origin{File: kustomization}
	}
	if origin.Path == "" { // generated
		return Origin{File: filepath.ToSlash(origin.ConfiguredIn)}
	}
	origin.Path = filepath.ToSlash(origin.Path)
	if m, found := original(p.manifests(filepath.Join(p.dir, origin.Path)), r.CurId()); found {
		return m.Origin
	}
	return Origin{File: origin.Path}
}

// original finds the manifest that a resource was made from. Kustomize has forgotten its name by then, of which it
// leaves something in the new one: a prefix and a suffix may have been added.
func original(in []Manifest, id resid.ResId) (found Manifest, ok bool) {
	alone := 0
	for _, m := range in {
		if m.GetKind() != id.Kind || m.GroupVersionKind().Group != id.Group {
			continue
		}
		if alone++; alone == 1 || strings.Contains(id.Name, m.GetName()) &&
			len(m.GetName()) > len(found.nameIn(id.Name)) {
			found = m
		}
	}
	return found, alone == 1 || alone > 1 && found.nameIn(id.Name) != ""
}

// nameIn is the manifest's name when it is part of another one.
func (m Manifest) nameIn(name string) string {
	if strings.Contains(name, m.GetName()) {
		return m.GetName()
	}
	return ""
}

func (p *places) manifests(path string) []Manifest {
	manifests, known := p.parsed[path]
	if known {
		return manifests
	}
	if v := p.disk.rendered[path]; v != nil {
		manifests = v.manifests
	} else if data, err := p.tree.ReadFile(path); err == nil {
		manifests, _ = Parse(data, p.disk.name(path)) // kustomize has taken it: without lines it is still known
	}
	p.parsed[path] = manifests
	return manifests
}
