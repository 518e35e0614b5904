// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
)

// annotationIgnore takes an object out of drift detection (PipeCD v1).
const annotationIgnore = "pipecd.dev/ignore-drift-detection"

// drift compares an application with a commit.
type drift struct {
	// dryRun gives what an apply of the manifest would leave in the cluster.
	dryRun   func(ctx context.Context, gvr schema.GroupVersionResource, m manifest.Manifest) (*unstructured.Unstructured, error)
	verdicts *memory[verdictKey, []difference]
	source   *stage.Source
	target   string
	ignored  []ignoreRule
}

// verdictKey is one state of an object against one manifest.
type verdictKey struct {
	uid     types.UID
	version string
	digest  [sha256.Size]byte
}

// finding is one object that is not as in Git.
type finding struct {
	key manifest.Key
	// what is said instead of differences.
	what        string
	differences []difference
	live        *unstructured.Unstructured
}

// compare gives the sync state. An object that somebody else manages a field of is as in Git when that field is the number
// of replicas and the somebody an autoscaler.
func (d *drift) compare(ctx context.Context, places []place, objects []*object) *model.ApplicationSyncState {
	live := map[manifest.Key]*unstructured.Unstructured{}
	for _, o := range objects {
		if o.parents == nil {
			live[manifest.KeyOf(o.live).Fold()] = o.live
		}
	}
	scaled := autoscaled(places, live)
	var findings []finding
	inGit := map[manifest.Key]bool{}
	for _, p := range places {
		key := p.manifest.Key()
		inGit[key.Fold()] = true
		found := live[key.Fold()]
		switch {
		case isIgnored(p.manifest.Unstructured), found != nil && isIgnored(found):
		case !p.known:
			findings = append(findings, finding{key: key, what: "is missing, and the cluster does not know " + p.manifest.GetAPIVersion() + " " + key.Kind})
		case found == nil:
			findings = append(findings, finding{key: key, what: "is missing in the cluster"})
		case found.GetDeletionTimestamp() != nil:
			findings = append(findings, finding{key: key, what: "is being deleted from the cluster"})
		default:
			left := slices.DeleteFunc(slices.Clone(d.differences(ctx, p, found)), func(one difference) bool {
				return d.isIgnored(p.manifest, one) || one.path == replicasPath && (scaled[key.Fold()] || scaledByController(found))
			})
			if len(left) > 0 {
				findings = append(findings, finding{key: key, differences: left, live: found})
			}
		}
	}
	for _, o := range objects {
		key := manifest.KeyOf(o.live)
		if o.parents == nil && !inGit[key.Fold()] && o.live.GetDeletionTimestamp() == nil && !isIgnored(o.live) && d.isPrimary(o.live) {
			findings = append(findings, finding{key: key, what: "is in the cluster, but not in Git"})
		}
	}
	return d.state(findings)
}

// isPrimary leaves out what belongs to a canary or a baseline.
func (d *drift) isPrimary(live *unstructured.Unstructured) bool {
	label := d.source.App.VariantLabel
	variant := live.GetLabels()[label.Key]
	return variant == "" || variant == label.PrimaryValue
}

func isIgnored(o *unstructured.Unstructured) bool {
	return o.GetAnnotations()[annotationIgnore] == "true"
}

// differences gives what an apply would change.
func (d *drift) differences(ctx context.Context, p place, live *unstructured.Unstructured) []difference {
	suspected := suspect(p.manifest.Unstructured, live)
	if len(suspected) == 0 {
		return nil
	}
	key := verdictKey{uid: live.GetUID(), version: live.GetResourceVersion(), digest: digest(p.manifest)}
	if known, ok := d.verdicts.get(key); ok {
		return known
	}
	if !canDryRun(p.manifest) {
		d.verdicts.put(key, suspected)
		return suspected
	}
	after, err := d.dryRun(ctx, p.gvr, p.manifest)
	if err != nil {
		// What cannot be applied differs; it is tried again at the next look.
		return suspected
	}
	confirmed := compareObjects(live, after)
	d.verdicts.put(key, confirmed)
	return confirmed
}

// canDryRun leaves out what is not applied by server-side apply, and Secrets, whose values are not kept.
func canDryRun(m manifest.Manifest) bool {
	annotations := m.GetAnnotations()
	return !m.Is(manifest.KindSecret) && annotations[manifest.AnnotationReplace] != manifest.Enabled &&
		annotations[manifest.AnnotationForceReplace] != manifest.Enabled
}

// digest identifies the content of a manifest.
func digest(m manifest.Manifest) [sha256.Size]byte {
	data, err := json.Marshal(m.Object)
	if err != nil {
		return [sha256.Size]byte{} // what came from YAML or JSON can be written as JSON
	}
	return sha256.Sum256(data)
}
