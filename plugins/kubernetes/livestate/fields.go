// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// Bounds of an answer, which the protocol names: resources, fields of one resource, bytes of one value, and bytes of
// all.
const (
	maxDriftResources  = 100
	maxDriftFields     = 50
	maxDriftValueBytes = 1 << 10
	maxDriftBytes      = 256 << 10
)

// Drift reports in which fields the application differs from Git, with the values in Git, in the live state and in what
// was applied last. It looks as Get does, or takes what Get has just found; the ids of resources are the same.
func (s *Store) Drift(ctx context.Context, q Query) ([]sdk.ResourceDrift, error) {
	wanted, err := s.allDesired(ctx, q)
	if err != nil {
		return nil, err
	}
	answers, known := s.takeLast(q, wanted)
	if !known {
		if answers, err = s.answers(ctx, q, wanted); err != nil {
			return nil, err
		}
	}
	var all []sdk.ResourceDrift
	room := maxDriftBytes
	for i, a := range answers {
		if a.looked.cluster == nil {
			continue
		}
		newest, err := s.newest(ctx, q, q.Destinations[i])
		if err != nil {
			return nil, err
		}
		drifts, err := a.drifts(newest)
		if err != nil {
			return nil, fmt.Errorf("deploy target %s: %w", a.target, err)
		}
		for _, one := range drifts {
			if len(all) == maxDriftResources {
				return all, nil
			}
			one.ResourceID = a.before + one.ResourceID
			room = fit(&one, room)
			all = append(all, one)
		}
	}
	return all, nil
}

// fit leaves out the last fields that find no room, and returns what is left of it.
func fit(d *sdk.ResourceDrift, room int) int {
	for len(d.Fields) > 0 && d.Size() > room {
		d.Fields = d.Fields[:len(d.Fields)-1]
		d.MoreFields++
	}
	return max(0, room-d.Size())
}

// drifts compares what is live with Git and with what was applied last. newest is nil when these two are the same. The
// target was asked.
func (a answer) drifts(newest *wanted) ([]sdk.ResourceDrift, error) {
	inGit, err := a.looked.cluster.placeNewest(newest)
	if err != nil {
		return nil, err
	}
	applied := map[manifest.Key]manifest.Manifest{}
	for _, p := range a.looked.places {
		applied[p.manifest.Key().Fold()] = p.manifest
	}
	var all []sdk.ResourceDrift
	done := map[manifest.Key]bool{}
	add := func(f finding) {
		key := f.key.Fold()
		done[key] = true
		want, known := applied[key]
		if !known || f.live == nil || manifest.IsHook(want) {
			return // what is missing, or was never in Git, has no fields to compare; a hook runs at its moments
		}
		ways := threeWay{applied: want.Unstructured, live: f.live, git: want.Unstructured}
		if newest != nil {
			ways.git = inGit[key]
		}
		one := sdk.ResourceDrift{ResourceID: string(f.live.GetUID()), Refused: shorten(f.refused)}
		for _, d := range f.differences {
			one.Fields = append(one.Fields, ways.drifted(d))
		}
		for _, d := range a.looked.changed(want, f, ways.git) {
			one.Fields = append(one.Fields, ways.changed(d))
		}
		if more := len(one.Fields) - maxDriftFields; more > 0 {
			one.Fields, one.MoreFields = one.Fields[:maxDriftFields], more
		}
		if len(one.Fields) > 0 {
			all = append(all, one)
		}
	}
	for _, f := range a.found {
		add(f)
	}
	for _, o := range a.looked.objects {
		if key := manifest.KeyOf(o.live); newest != nil && o.parents == nil && !done[key.Fold()] {
			add(finding{key: key, live: o.live})
		}
	}
	return all, nil
}

// placeNewest is what Git asks for now, in the form in which placeAll has what was applied: an apply would give an
// object without a namespace the one of the cluster too. newest may be nil.
func (w *watched) placeNewest(newest *wanted) (map[manifest.Key]*unstructured.Unstructured, error) {
	if newest == nil {
		return nil, nil
	}
	inGit := make(map[manifest.Key]*unstructured.Unstructured, len(newest.manifests))
	for _, m := range newest.manifests {
		one, err := w.place(m)
		if err != nil {
			return nil, err
		}
		inGit[one.manifest.Key().Fold()] = one.manifest.Unstructured
	}
	return inGit, nil
}

// changed returns the fields that Git has changed since the last deployment, without those of the finding.
func (l look) changed(applied manifest.Manifest, f finding, git *unstructured.Unstructured) []difference {
	if git == nil || git == applied.Unstructured {
		return nil
	}
	return slices.DeleteFunc(compareObjects(applied.Unstructured, git), func(d difference) bool {
		return l.drift.isIgnored(applied, f.live, d) ||
			slices.ContainsFunc(f.differences, func(known difference) bool { return known.path == d.path })
	})
}

// threeWay is one object in its three forms. git is nil when the object is not in Git any more.
type threeWay struct{ git, live, applied *unstructured.Unstructured }

// drifted is a field that is not live as it was applied. What an apply would leave there is its value in Git, unless
// Git has another one since.
func (w threeWay) drifted(d difference) sdk.FieldDrift {
	git := d.git
	if now := at(w.git, d.path); w.git != w.applied && !same(now, at(w.applied, d.path), step{path: d.path}) {
		git = now
	}
	if w.unapplied() {
		if lastManager(w.live, d.path) != "" { // what was applied before that is not known
			return w.field(d.path, git, d.live, nil)
		}
		return w.field(d.path, git, d.live, d.live)
	}
	return w.field(d.path, git, d.live, d.git)
}

// unapplied reports whether the deployment of the commit has not applied the object: its pipeline has no stage that
// does, or left the object out.
func (w threeWay) unapplied() bool {
	is := w.live.GetAnnotations()[manifest.LabelCommitHash]
	return is != "" && is != w.applied.GetAnnotations()[manifest.LabelCommitHash]
}

// changed is a field that Git has changed since the last deployment.
func (w threeWay) changed(d difference) sdk.FieldDrift {
	return w.field(d.path, d.git, at(w.live, d.path), d.live)
}

func (w threeWay) field(path string, git, live, applied any) sdk.FieldDrift {
	equal := func(a, b any) bool { return same(a, b, step{path: path}) }
	f := sdk.FieldDrift{
		Path: cutValue(path), Git: fieldValue(git), Live: fieldValue(live),
		Applied: fieldValue(applied), Change: sdk.ChangeBoth,
		Secret: w.live.GetKind() == manifest.KindSecret && strings.HasPrefix(path, "data"),
		Writer: lastManager(w.live, path),
	}
	switch {
	case equal(git, applied):
		f.Change = sdk.ChangeLive
	case equal(live, applied):
		f.Change = sdk.ChangeGit
	case equal(git, live):
		f.Change = sdk.ChangeApplied
	}
	return f
}

// fieldValue is a value as JSON, cut off; empty for an absent one. Hashes of secrets become the same stars.
func fieldValue(value any) string {
	if value == nil {
		return ""
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%T", value)
	}
	return cutValue(string(hashed.ReplaceAll(data, []byte(hidden))))
}

// cutValue cuts a text to the bound of one value.
func cutValue(text string) string {
	if len(text) <= maxDriftValueBytes {
		return text
	}
	const more = "…"
	return strings.ToValidUTF8(text[:maxDriftValueBytes-len(more)], "") + more
}
