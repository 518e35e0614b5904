// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
)

// annotationIgnore takes an object out of drift detection (PipeCD v1).
const annotationIgnore = "pipecd.dev/ignore-drift-detection"

// drift compares an application with a commit.
type drift struct {
	// dryRun gives what an apply of the manifest would leave in the cluster.
	dryRun func(ctx context.Context, gvr schema.GroupVersionResource,
		m manifest.Manifest) (*unstructured.Unstructured, error)
	verdicts *memory[verdictKey, []difference]
	// agreed is that of the manifests; nil compares every object.
	agreed *agreements
	// holder says who else has an object; empty when no one has it.
	holder func(place) string
	// unowned asks the cluster whether it has an object that belongs to no application; nil takes that for missing.
	unowned func(context.Context, place) (bool, error)
	source  *stage.Source
	target  string
	ignored []*ignoreRule
	routed  []routedForm
	// varies is set when a chart of the application may render otherwise after its deployment; see lookups.go. managers
	// gives who has written the fields of an object then.
	varies bool
	// installOnly are the objects that only an installation has.
	installOnly map[manifest.Key]bool
	managers    func(context.Context, schema.GroupVersionResource, *unstructured.Unstructured) (
		[]metav1.ManagedFieldsEntry, error)
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
	// refused is why an apply would not fix it; empty when it would.
	refused string
	// live is nil for what is missing.
	live *unstructured.Unstructured
	// foreign is set for what is there and not the application's.
	foreign bool
	// shared is set for the definitions of a chart's crds/ folder: every application with the chart has them, whoever
	// applied them last, so that it is no drift when they are foreign.
	shared bool
}

// parallelDryRuns bounds the requests to a cluster for one application.
const parallelDryRuns = 8

// compare returns what is not as in Git, in the order of the manifests, then what is not in Git. An object that someone
// else manages a field of is as in Git when that field is the number of replicas and the someone an autoscaler. It
// fails when the API does not answer.
func (d *drift) compare(ctx context.Context, places []place, objects []*object) ([]finding, error) {
	live := liveOf(objects)
	scaled := autoscaled(places, live)
	found := make([]finding, len(places))
	inGit := map[manifest.Key]bool{}
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(parallelDryRuns)
	for i, p := range places {
		key := p.manifest.Key().Fold()
		inGit[key] = true
		if p.known && d.agreed.holds(p.manifest.Key(), live[key]) {
			continue
		}
		group.Go(func() (err error) {
			found[i], err = d.compareOne(running, p, live[key], scaled[key])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	findings := slices.DeleteFunc(found, func(f finding) bool { return f.what == "" && len(f.differences) == 0 })
	return append(findings, d.leftOver(places, objects, inGit)...), nil
}

// absent completes the finding of an object that is not among what the application has in the cluster.
func (d *drift) absent(ctx context.Context, p place, f finding) (finding, error) {
	if f.what = d.holder(p); f.what != "" {
		f.foreign = true
		return f, nil
	}
	if removesItself(p.manifest) {
		return f, nil
	}
	f.what = "is missing in the cluster"
	if d.unowned == nil {
		return f, nil
	}
	there, err := d.unowned(ctx, p)
	if err != nil {
		return f, fmt.Errorf("look for %s in the cluster: %w", f.key.Human(), err)
	}
	if there {
		f.what, f.foreign = "is in the cluster and belongs to no application; a sync takes it over", true
	}
	return f, nil
}

// liveOf returns what was applied, by folded keys.
func liveOf(objects []*object) map[manifest.Key]*unstructured.Unstructured {
	live := map[manifest.Key]*unstructured.Unstructured{}
	for _, o := range objects {
		if o.parents == nil {
			live[manifest.KeyOf(o.live).Fold()] = o.live
		}
	}
	return live
}

// leftOver returns what is in the cluster and not in Git, but for what is not to be deleted.
func (d *drift) leftOver(places []place, objects []*object, inGit map[manifest.Key]bool) (findings []finding) {
	former := generations{}
	stays := map[manifest.Key]bool{}
	if !prunes(d.source) { // no upgrade deletes it
		former, stays = newGenerations(places), d.installOnly
	}
	for _, o := range objects {
		key := manifest.KeyOf(o.live)
		if o.parents == nil && !inGit[key.Fold()] && o.live.GetDeletionTimestamp() == nil && !isIgnored(o.live) &&
			d.isPrimary(o.live) && !inventory.IsCopy(o.live, key) && manifest.Exclusion(o.live) == "" &&
			!former.hasFormer(key) && !stays[key.Fold()] && !manifest.IsHook(o.live) && !d.isDeployed(o.live) {
			findings = append(findings, finding{key: key, what: "is in the cluster, but not in Git", live: o.live})
		}
	}
	return findings
}

// compareOne returns an empty finding for what is as in Git. scaled is whether an autoscaler sets the number of
// replicas.
func (d *drift) compareOne(ctx context.Context, p place, live *unstructured.Unstructured,
	scaled bool) (finding, error) {
	f := finding{key: p.manifest.Key(), live: live, shared: manifest.IsChartCRD(p.manifest.Unstructured)}
	switch {
	case isIgnored(p.manifest.Unstructured), live != nil && isIgnored(live):
	case manifest.IsHook(p.manifest): // it runs at its moments, and need not be there between them
	case !p.known:
		f.what = "is missing, and the cluster does not know " + p.manifest.GetAPIVersion() + " " + f.key.Kind
		if p.versions != "" {
			f.what += ", only " + p.versions
		}
	case live == nil:
		return d.absent(ctx, p, f)
	case live.GetDeletionTimestamp() != nil:
		f.what = "is being deleted from the cluster"
	case live.GetAPIVersion() != p.manifest.GetAPIVersion(): // the watch of Git's version has not seen it yet
	default:
		owned := scaled || scaledByController(live)
		counts := func(one difference) bool {
			return !d.isIgnored(p.manifest, live, one) && (one.path != replicasPath || !owned)
		}
		differences, refused, err := d.differences(ctx, p, live, counts)
		if err != nil {
			return f, fmt.Errorf("try %s in the cluster: %w", f.key.Human(), err)
		}
		if len(differences) > 0 {
			routed, err := d.asRouted(ctx, p, live)
			if routed || err != nil {
				return f, err
			}
		}
		if f.differences, err = d.sinceDeployed(ctx, p, live, differences); err != nil {
			return f, fmt.Errorf("ask who has written %s: %w", f.key.Human(), err)
		}
		if len(f.differences) > 0 {
			f.refused = refused
		}
	}
	return f, nil
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

// differences returns what an apply would change of what counts; refused is why the API would not do it. Fields that do
// not count are no reason to try the apply.
func (d *drift) differences(ctx context.Context, p place, live *unstructured.Unstructured,
	counts func(difference) bool) (found []difference, refused string, err error) {
	all := suspect(p.manifest.Unstructured, live)
	suspected := kept(all, counts)
	if len(suspected) == 0 && !d.isRewritten(p.manifest, live) {
		if len(all) == 0 { // what does not count may count later
			d.agreed.add(p.manifest.Key(), live)
		}
		return nil, "", nil
	}
	if !canDryRun(p.manifest) {
		return certain(suspected), "", nil
	}
	key := verdictKey{uid: live.GetUID(), version: live.GetResourceVersion(), digest: digest(p.manifest)}
	if known, ok := d.verdicts.get(key); ok {
		return within(kept(known, counts), suspected), "", nil
	}
	after, err := d.dryRun(ctx, p.gvr, p.manifest)
	switch {
	case err == nil:
	case ctx.Err() != nil || cluster.Retryable(err):
		return nil, "", err
	default:
		return certain(suspected), err.Error(), nil // tried again at the next look: the reason may pass
	}
	confirmed := compareObjects(live, after)
	d.verdicts.put(key, confirmed)
	return within(kept(confirmed, counts), suspected), "", nil
}

func kept(all []difference, counts func(difference) bool) (those []difference) {
	for _, one := range all {
		if counts(one) {
			those = append(those, one)
		}
	}
	return those
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
