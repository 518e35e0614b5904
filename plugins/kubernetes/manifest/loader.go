// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/checkout"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
)

// Loader reads manifests. It may be used by several goroutines.
type Loader struct {
	charts *helm.Charts
	cache  *cache
	// kustomizing is held while kustomize runs: its schema cache is shared by the whole process and not safe to share.
	kustomizing sync.Mutex
}

// NewLoader creates a Loader, which knows no chart repository.
func NewLoader() *Loader {
	return &Loader{charts: helm.New(helm.Sources{}), cache: newCache(maxCacheBytes)}
}

// UseCharts says where charts come from. It has to be called before the first Load.
func (l *Loader) UseCharts(charts *helm.Charts) { l.charts = charts }

// Request says what to load.
type Request struct {
	// Dir is the application's directory.
	Dir string
	// Root is the directory that nothing may leave: the checkout. Empty: Dir.
	Root string
	// ConfigFile is the application configuration's base name, which is never a manifest.
	ConfigFile string
	// Files are files and folders relative to Dir. Empty: every *.yaml, *.yml and *.json directly in Dir. A chart, and
	// then a kustomization in Dir, go before them (PipeCD v1: the same).
	Files            []string
	Chart            *Chart
	KustomizeOptions map[string]string
	// Namespace, unless empty, replaces the namespace of every namespaced manifest.
	Namespace string
	// AllowedAddresses are added to those that charts may come from.
	AllowedAddresses []string
	// Cluster is the cluster that charts see; nil for none.
	Cluster helm.Cluster
	// Moment is the one of Chart. Charts of kustomizations are rendered for an installation, as kustomize does.
	Moment helm.Moment
	// ReadsMoment, unless nil, is called when Chart may be rendered otherwise at another Moment.
	ReadsMoment func()
	// Release, unless nil, gets what a record of the release of Chart needs.
	Release func(*helm.Release)
	// Note, unless nil, gets what a user should know next to the manifests, a line each.
	Note func(string)
}

// result is what was loaded, before it is anybody's.
type result struct {
	manifests []Manifest
	notes     []string
	// fixed is whether the same files always give the same.
	fixed bool
	// readsMoment is whether another moment of the release may give another result.
	readsMoment bool
	// release is nil where no one has asked for it.
	release *helm.Release
}

// Load returns the manifests in the order they are written. What was loaded from the same files with the same options
// is not read again.
func (l *Loader) Load(ctx context.Context, req Request) ([]Manifest, error) {
	var err error
	if req.Dir, err = filepath.Abs(req.Dir); err != nil {
		return nil, err
	}
	if req.Root == "" {
		req.Root = req.Dir
	}
	seen, err := req.capabilities(ctx)
	if err != nil {
		return nil, err
	}
	key := req.key(seen)
	loaded, known := l.cache.get(key, req.Root)
	if !known || req.Release != nil { // what only a record needs is not kept
		tree, err := checkout.Open(req.Root)
		if err != nil {
			return nil, err
		}
		if loaded, err = l.load(ctx, tree, req); err != nil {
			return nil, err
		}
		if loaded.release != nil {
			req.Release(loaded.release)
			loaded.release = nil
		}
		if loaded.fixed && !known {
			l.cache.put(key, tree.Seen(), loaded)
		}
	}
	if loaded.readsMoment && req.ReadsMoment != nil {
		req.ReadsMoment()
	}
	if req.Note != nil {
		for _, note := range loaded.notes {
			req.Note(note)
		}
	}
	return CloneAll(loaded.manifests), nil
}

func (l *Loader) load(ctx context.Context, tree *checkout.Tree, req Request) (*result, error) {
	loaded, err := l.read(ctx, tree, req)
	if err != nil {
		return nil, err
	}
	if len(loaded.manifests) == 0 {
		return nil, errors.New("no manifests found: put *.yaml, *.yml or *.json files into the application's " +
			"directory, name them in input.manifests, add a kustomization.yaml, or set input.helmChart")
	}
	for _, m := range loaded.manifests {
		if req.Namespace != "" && !isClusterScoped(m) {
			m.SetNamespace(req.Namespace)
		}
	}
	if err := checkNumbers(loaded.manifests); err != nil {
		return nil, err
	}
	return loaded, refuseDuplicates(loaded.manifests)
}

func (l *Loader) read(ctx context.Context, tree *checkout.Tree, req Request) (*result, error) {
	if req.Chart != nil {
		return l.renderChart(ctx, tree, req.Dir, *req.Chart, req.Namespace, req)
	}
	if name := kustomizationFile(tree, req.Dir); name != "" {
		return l.kustomize(ctx, tree, req, name)
	}
	files, err := listFiles(tree, req)
	if err != nil {
		return nil, err
	}
	loaded := &result{fixed: true}
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		data, err := tree.ReadFile(filepath.Join(req.Dir, file))
		if err != nil {
			return nil, fmt.Errorf("read manifest: %w", err)
		}
		parsed, err := Parse(data, filepath.ToSlash(file))
		if err != nil {
			return nil, err
		}
		loaded.manifests = append(loaded.manifests, parsed...)
	}
	return loaded, nil
}

// capabilities are what the charts of a request see of a cluster; nil where there are no charts, or no cluster.
func (r Request) capabilities(ctx context.Context) (*helm.Capabilities, error) {
	if r.Cluster == nil {
		return nil, nil
	}
	if r.Chart == nil {
		flags, err := parseKustomizeOptions(r.KustomizeOptions)
		if err != nil || !flags.charts {
			return nil, nil //nolint:nilerr // loading reports it where it matters
		}
	}
	return r.Cluster.Capabilities(ctx)
}

func refuseDuplicates(manifests []Manifest) error {
	seen := map[Key]Manifest{}
	for _, m := range manifests {
		key := m.Key().Fold()
		if first, twice := seen[key]; twice {
			return fmt.Errorf("%s: %s is already defined at %s", m.Origin, m.Key().Human(), first.Origin)
		}
		seen[key] = m
	}
	return nil
}
