// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
)

// A chart may render otherwise for the installation of its release than for an upgrade. Which of both the deployment of
// a commit was is seen by the objects that only one of them has: what carries the commit was applied by it.

// moments are the objects of a chart that only one of its two renderings has. The nil value is that of a chart, or of
// an application, that always renders alike.
type moments struct {
	installOnly []manifest.Manifest
	upgradeOnly map[manifest.Key]bool
}

// rendering is the one that a place belongs to.
type rendering int

const (
	always rendering = iota
	installed
	upgraded
)

// moments compares the rendering for an upgrade with that for the installation.
func (s *Store) moments(ctx context.Context, target stage.Target, source *stage.Source, how stage.Loading,
	upgrade []manifest.Manifest) (*moments, error) {
	how.Upgrade, how.Install = false, true
	install, err := s.loader.LoadPrimary(ctx, []stage.Target{target}, source, how)
	if err != nil {
		return nil, err
	}
	m := &moments{upgradeOnly: map[manifest.Key]bool{}}
	for _, one := range upgrade {
		m.upgradeOnly[one.Key()] = true
	}
	for _, one := range install.Manifests {
		if !m.upgradeOnly[one.Key()] {
			m.installOnly = append(m.installOnly, one)
		}
		delete(m.upgradeOnly, one.Key())
	}
	return m, nil
}

// all are the manifests of both renderings.
func (w *wanted) all() []manifest.Manifest {
	if w.moments == nil {
		return w.manifests
	}
	return append(w.manifests[:len(w.manifests):len(w.manifests)], w.moments.installOnly...)
}

// at is the rendering that the manifest with this number among all belongs to.
func (w *wanted) at(i int) rendering {
	switch {
	case i >= len(w.manifests):
		return installed
	case w.moments != nil && w.moments.upgradeOnly[w.manifests[i].Key()]:
		return upgraded
	}
	return always
}

// deployed are the places of the rendering that the deployment of a commit has applied. Where neither has left a trace,
// what only one of them has need not be there.
func deployed(places []place, live map[manifest.Key]*unstructured.Unstructured, commit string) (
	kept []place, installOnly map[manifest.Key]bool) {
	installOnly = map[manifest.Key]bool{}
	applied := map[rendering]bool{}
	for _, p := range places {
		key := p.manifest.Key().Fold()
		if p.at == installed {
			installOnly[key] = true
		}
		if o := live[key]; o != nil && o.GetAnnotations()[manifest.LabelCommitHash] == commit {
			applied[p.at] = true
		}
	}
	last := installed
	if applied[upgraded] {
		last = upgraded
	}
	for _, p := range places {
		if p.at == always || applied[last] && p.at == last {
			kept = append(kept, p)
		}
	}
	return kept, installOnly
}
