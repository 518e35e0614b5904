// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/phase"
)

// FieldManager owns the fields that are applied. It must never change, or fields that vanish from Git would stay.
const FieldManager = "piped"

// parallelRequests bounds the objects that are applied at once. The API lets a client have some dozens of requests
// under way before it makes them queue.
const parallelRequests = 24

// Log takes the lines that a user reads. It may be used by several goroutines.
type Log interface {
	Infof(format string, args ...any)
	Successf(format string, args ...any)
}

// Applier applies manifests to one cluster.
type Applier struct {
	// Restore is set to go back to an earlier commit. What the failed one has deleted and created again, because of its
	// annotation, is then created again, too, where its fields cannot be changed back.
	Restore *Restoration
	// WaveEnd, unless nil, is called with what a wave has applied before the next wave begins. Its error ends the run.
	WaveEnd func(ctx context.Context, w phase.Wave, applied []Applied) error
	// Scaled are the objects whose number of replicas an autoscaler sets, by folded keys; it stays as it is.
	Scaled map[manifest.Key]bool
	// Seen, unless nil, saves sending what has not changed since it was applied; it outlives the Applier.
	Seen *Seen
	// TakesOver, unless nil, is called before objects of other applications are applied, with their marks, and
	// with no marks for what turns out to have been there without, unless that is older than Since. It may be called by
	// several goroutines. Its error ends the run.
	TakesOver func(ctx context.Context, others map[types.UID]manifest.Marks) error
	Since     time.Time
	// Named, unless nil, gives the name of an application for its id.
	Named func(id string) string
	// BothHave, unless nil, reports whether both the application of the manifests and another one have an object in
	// Git.
	BothHave func(ctx context.Context, object manifest.Key, other string) bool
	// Judges, unless nil, reports kinds whose health is judged by rules, which may look at any field.
	Judges func(schema.GroupKind) bool

	client *cluster.Client
	log    Log
	// retry bounds the repetition of one request.
	retry cluster.Retry
	// refreshed: what is known of the API's kinds was fetched again, for one that was not known.
	refreshed sync.Once
}

// New creates an Applier.
func New(client *cluster.Client, log Log) *Applier {
	return &Applier{client: client, log: log, retry: cluster.DefaultRetry}
}

func (a *Applier) named(id string) string {
	if a.Named == nil {
		return id
	}
	return a.Named(id)
}

// Applied is a manifest and what the cluster made of it.
type Applied struct {
	Manifest manifest.Manifest
	Live     *unstructured.Unstructured
	Resource dynamic.ResourceInterface
}

// Apply applies the waves one after the other, and in each wave side by side what does not need each other. What the
// user of the kubeconfig may not do holds nothing else of its wave up; after any other error nothing that comes later
// is begun. The error names every manifest that failed. What was applied is returned with it.
func (a *Applier) Apply(ctx context.Context, waves []phase.Wave) ([]Applied, error) {
	begun := time.Now()
	var manifests []manifest.Manifest
	for _, w := range waves {
		manifests = append(manifests, w.Manifests()...)
	}
	if err := a.awaitLeaving(ctx, manifests); err != nil {
		return nil, err
	}
	run := &run{Applier: a, before: a.look(ctx, manifests), fresh: map[string]bool{}}
	if err := run.takeOver(ctx, manifests); err != nil {
		return nil, err
	}
	applied := make([]Applied, 0, len(manifests))
	var failed []error
	for i, w := range waves {
		if i > 0 && waves[i-1].Number != phase.Foundation { // that one was waited for
			run.before.refresh(a.look(ctx, w.Manifests()))
			if err := run.takeOver(ctx, w.Manifests()); err != nil {
				failed = append(failed, err)
				break
			}
		}
		made, errs := run.wave(ctx, w)
		applied, failed = append(applied, made...), append(failed, errs...)
		if len(errs) > 0 && w.Number != phase.Foundation || slices.ContainsFunc(errs, endsRun) {
			break
		}
		if i == len(waves)-1 || a.WaveEnd == nil {
			continue
		}
		if err := a.WaveEnd(ctx, w, made); err != nil {
			failed = append(failed, err)
			break
		}
	}
	a.log.Infof("%s in %s", run.counts.String(), time.Since(begun).Round(time.Millisecond))
	return applied, joined(append(failed, run.unknownToo(manifests, failed)...))
}

// endsRun reports whether an error holds up what comes later: every one but a missing permission.
func endsRun(err error) bool { return !isDenied(err) }

// run is one call of Apply.
type run struct {
	*Applier
	before before
	counts counts
	// fresh are the API groups of definitions that were applied in this run.
	fresh map[string]bool
}

// wave applies a wave, group after group.
func (r *run) wave(ctx context.Context, w phase.Wave) (applied []Applied, failed []error) {
	for _, g := range w.Groups {
		made, errs := r.group(ctx, g)
		applied, failed = append(applied, made...), append(failed, errs...)
		if slices.ContainsFunc(errs, endsRun) {
			break
		}
		if err := r.awaitServing(ctx, made); err != nil {
			failed = append(failed, err)
			break
		}
	}
	return applied, failed
}

// group applies manifests that do not need each other. The results are in the order of the manifests.
func (r *run) group(ctx context.Context, manifests []manifest.Manifest) (applied []Applied, failed []error) {
	made, errs, hows := make([]Applied, len(manifests)), make([]error, len(manifests)), make([]string, len(manifests))
	var group errgroup.Group
	group.SetLimit(parallelRequests)
	for i, m := range manifests {
		group.Go(func() error {
			if ctx.Err() != nil {
				errs[i] = context.Cause(ctx)
				return nil
			}
			made[i], hows[i], errs[i] = r.applySettled(cluster.WithWarnings(ctx, func(text string) {
				r.log.Infof("  the API warns about %s: %s", m.Key().Human(), text)
			}), m)
			if errs[i] == nil {
				r.logObject(ctx, made[i], r.before.how(made[i], hows[i]))
			}
			return nil
		})
	}
	_ = group.Wait() // the errors are collected
	for i := range manifests {
		switch {
		case errs[i] != nil && ctx.Err() != nil:
			failed = []error{context.Cause(ctx)} // they all say the same
		case errs[i] != nil:
			failed = append(failed, errs[i])
		default:
			applied = append(applied, made[i])
		}
	}
	return applied, failed
}

// logObject writes what became of one object. That nothing did is only counted: most of a large application stays as it
// is.
func (r *run) logObject(ctx context.Context, a Applied, how string) {
	r.counts.add(how)
	if how != unchanged {
		r.log.Successf("- %s: %s", a.key().Human(), how)
	}
	if r.Restore != nil && (how == created || how == recreated) && isEmptyClaim(a.Manifest) {
		r.log.Infof("  %s is a new claim and empty: the data of the one that was deleted does not come back",
			a.key().Human())
	}
	other := r.before.otherOwner(a)
	if other == "" || manifest.IsChartCRD(a.Manifest.Unstructured) {
		return
	}
	more := ""
	if r.BothHave != nil && r.BothHave(ctx, a.key(), other) {
		more = ": two applications that both have it in Git take it from each other with every deployment"
	}
	r.log.Infof("  %s belonged to the application %s until now%s", a.key().Human(), r.named(other), more)
}

func (a Applied) key() manifest.Key { return manifest.KeyOf(a.Live) }

func (r *run) applyOne(ctx context.Context, m manifest.Manifest) (Applied, string, error) {
	api, m, err := r.resource(m)
	if err != nil {
		return Applied{}, "", err
	}
	if !r.isPlain(m) {
		return r.writeNoted(ctx, api, m)
	}
	sent := printOf(m.Object)
	if live := r.unsent(ctx, api, m, sent); live != nil {
		return Applied{Manifest: m, Live: live, Resource: api}, unchanged, nil
	}
	applied, how, err := r.writeNoted(ctx, api, m)
	if err == nil {
		r.Seen.note(applied.Live.GetUID(), seen{manifest: sent, live: printOfLive(applied.Live)})
	}
	return applied, how, err
}

// write sends a manifest until an object holds it that stays.
func (a *Applier) write(ctx context.Context, r dynamic.ResourceInterface, m manifest.Manifest) (Applied, string,
	error) {
	for range maxLeaving {
		var (
			live *unstructured.Unstructured
			how  string
		)
		ctx, birth := watch(ctx)
		rerun := runsAgain(m)
		if err := a.checkHook(ctx, r, m); err != nil {
			return Applied{}, "", err
		}
		untouched, err := a.untouched(ctx, r, m)
		if err != nil {
			return Applied{}, "", err
		}
		err = a.retry.Do(ctx, retryable, func() (err error) {
			if err := a.keepReplicas(ctx, r, m); err != nil {
				return err
			}
			switch annotations := m.GetAnnotations(); {
			case untouched != nil:
				live, how, err = a.restoreUntouched(ctx, r, m, untouched)
			case rerun:
				live, how, err = a.runHook(ctx, r, m)
			case annotations[manifest.AnnotationForceReplace] == manifest.Enabled:
				live, how, err = a.forceReplace(ctx, r, m)
			case annotations[manifest.AnnotationReplace] == manifest.Enabled:
				live, how, err = a.replace(ctx, r, m)
			default:
				live, how, err = a.serverSide(ctx, r, m)
			}
			return err
		})
		if untouched == nil && a.wasForced(ctx, r, m, err) {
			err = a.retry.Do(ctx, retryable, func() (err error) {
				live, how, err = a.forceReplace(ctx, r, m)
				return err
			})
		}
		if err != nil {
			err = a.describe(ctx, err, r, m)
			if live, how = a.leaveRefused(ctx, r, m, untouched, err), unchanged; live == nil {
				return Applied{}, "", err
			}
		}
		if how == appliedOnly && birth.shows(live) {
			how = created
		}
		if live.GetDeletionTimestamp() == nil {
			return Applied{Manifest: m, Live: live, Resource: r}, how, nil
		}
		// What was written goes with the object that leaves.
		a.log.Infof("- %s is being deleted: waiting until it is gone, to create it again%s", m.Key().Human(),
			heldBy(live))
		if err := a.awaitGone(ctx, r, m, live.GetUID()); err != nil {
			return Applied{}, "", err
		}
	}
	return Applied{}, "", fmt.Errorf("apply %s: it was deleted each of the %d times that it was applied; what "+
		"deletes it?", m.Key().Human(), maxLeaving)
}

// describe puts an error of the API about a manifest into words. It asks the cluster what the error does not say.
func (a *Applier) describe(ctx context.Context, err error, r dynamic.ResourceInterface, m manifest.Manifest) error {
	return describe(err, m, inquiry{
		live: sync.OnceValue(func() *unstructured.Unstructured {
			live, err := r.Get(ctx, m.GetName(), metav1.GetOptions{})
			if err != nil {
				return nil
			}
			return live
		}),
		fields: fieldsOf(ctx, a.client, m.GroupVersionKind()),
	})
}

// wasForced reports whether an object has to be made again to restore it: the API does not take it since a field cannot
// be changed, and the live one was itself put in its place by force.
func (a *Applier) wasForced(ctx context.Context, r dynamic.ResourceInterface, m manifest.Manifest, refusal error) bool {
	if a.Restore == nil || !apierrors.IsInvalid(refusal) || !saysImmutable(refusal.Error()) {
		return false
	}
	live, err := r.Get(ctx, m.GetName(), metav1.GetOptions{})
	return err == nil && live.GetAnnotations()[manifest.AnnotationForceReplace] == manifest.Enabled
}

// maxLeaving bounds how often an object is made again that someone else deletes.
const maxLeaving = 3

// resource finds where a manifest belongs, and sets or removes its namespace accordingly.
func (a *Applier) resource(m manifest.Manifest) (dynamic.ResourceInterface, manifest.Manifest, error) {
	mapping, err := a.mapping(m)
	if err != nil {
		return nil, m, err
	}
	m = m.Clone()
	if manifest.IsAggregated(m.Unstructured) { // an apply would take the rules away until the controller has set them
		unstructured.RemoveNestedField(m.Object, "rules")
	}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		unstructured.RemoveNestedField(m.Object, "metadata", "namespace")
		return a.client.Dynamic.Resource(mapping.Resource), m, nil
	}
	if m.GetNamespace() == "" {
		m.SetNamespace(a.client.Namespace)
	}
	return a.client.Dynamic.Resource(mapping.Resource).Namespace(m.GetNamespace()), m, nil
}

// mapping asks which resource a kind is. A kind that is not known is asked for again, once: it may have come since.
func (a *Applier) mapping(m manifest.Manifest) (*meta.RESTMapping, error) {
	gvk := m.GroupVersionKind()
	mapping, err := a.client.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) {
		a.refreshed.Do(a.client.Mapper.Reset)
		mapping, err = a.client.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	}
	switch {
	case err == nil:
		return mapping, nil
	case meta.IsNoMatchError(err):
		return nil, a.unknownKind(m, err)
	}
	return nil, fmt.Errorf("ask the cluster which resource %s is: %w", gvk.Kind, err)
}

// joined names every failure, within a bound; what was denied for the same reason is said once.
func joined(failed []error) error {
	failed = mergeDenied(failed)
	if more := len(failed) - maxFailures; more > 0 {
		failed = append(failed[:maxFailures:maxFailures], &restError{failed[maxFailures:]})
	}
	return errors.Join(failed...)
}

// restError stands for failures that are not listed.
type restError struct{ failed []error }

func (e *restError) Error() string { return fmt.Sprintf("and %d more like these", len(e.failed)) }

// Unwrap returns the failures: what they have in common is asked for by their types.
func (e *restError) Unwrap() []error { return e.failed }

// maxFailures bounds what one error lists.
const maxFailures = 20
