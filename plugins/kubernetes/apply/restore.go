// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// Restoration is the failed deployment that a rollback goes back from. A rollback forces nothing that this deployment
// did not change.
type Restoration struct {
	// CommitHash is that of the failed deployment.
	CommitHash string
	// Began is when it began to change the cluster, by the clock of the API.
	Began time.Time
	// Failed, unless nil, gives the manifests of the failed deployment, with the marks of those that are restored. It
	// is called when the cluster refuses one.
	Failed func(ctx context.Context) ([]manifest.Manifest, error)
}

// changed reports whether the failed deployment has written to an object. Its commit may be the one that ran before;
// then the time of the last change of our fields decides, which the API keeps in seconds.
func (r *Restoration) changed(live *unstructured.Unstructured) bool {
	if live.GetAnnotations()[manifest.LabelCommitHash] != r.CommitHash {
		return false
	}
	return slices.ContainsFunc(live.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		return replacedManagers.Has(e.Manager) && (e.Time == nil || !e.Time.Time.Before(r.Began))
	})
}

// untouched returns the live object when this is a rollback and the failed deployment did not change it; nil otherwise,
// also for what has to be created.
func (a *Applier) untouched(ctx context.Context, r dynamic.ResourceInterface,
	m manifest.Manifest) (live *unstructured.Unstructured, err error) {
	if a.Restore == nil {
		return nil, nil
	}
	err = a.retry.Do(ctx, retryable, func() error {
		live, err = r.Get(ctx, m.GetName(), metav1.GetOptions{})
		return err
	})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err): // who may not look may still be allowed to write
		return nil, nil
	case err != nil:
		return nil, a.describe(ctx, err, r, m)
	case live.GetDeletionTimestamp() != nil || a.Restore.changed(live):
		return nil, nil
	}
	return live, nil
}

// restoreUntouched applies what others have not changed since. What they have, and what is not ours any more, is left
// as it is.
func (a *Applier) restoreUntouched(ctx context.Context, r dynamic.ResourceInterface, m manifest.Manifest,
	live *unstructured.Unstructured) (*unstructured.Unstructured, string, error) {
	annotations := m.GetAnnotations()
	owner := live.GetLabels()[manifest.LabelApplication]
	switch {
	case owner != "" && owner != m.GetLabels()[manifest.LabelApplication]:
		a.log.Infof("- %s: left as it is, because the failed deployment did not change it and it belongs to the "+
			"application %s", m.Key().Human(), a.named(owner))
		return live, unchanged, nil
	case annotations[manifest.AnnotationForceReplace] == manifest.Enabled,
		annotations[manifest.AnnotationReplace] == manifest.Enabled:
		return live, unchanged, nil // a replacement would undo what others have changed
	}
	data, err := json.Marshal(m.Object)
	if err != nil {
		return nil, "", err
	}
	applied, err := r.Patch(ctx, m.GetName(), types.ApplyPatchType, data, patchOptions(false))
	if isHeld(err) {
		a.log.Infof("- %s: left as it is, because the failed deployment did not change it and other managers have "+
			"fields of it: %s", m.Key().Human(), list(heldFields(err)))
		return live, unchanged, nil
	}
	return applied, appliedOnly, err
}

// leaveRefused returns the live object that stays as it is although the cluster does not take its manifest now, because
// the failed deployment did not change it, or nothing of it but our marks: there is nothing to go back from. It returns
// nil for what has to be restored.
func (a *Applier) leaveRefused(ctx context.Context, r dynamic.ResourceInterface, m manifest.Manifest,
	untouched *unstructured.Unstructured, err error) (live *unstructured.Unstructured) {
	why := ""
	if refused, is := errors.AsType[*RefusedError](err); is {
		why = refused.Reason
	} else if denied, is := errors.AsType[*DeniedError](err); is {
		why = fmt.Sprintf("the user %s of the kubeconfig may not %s it", denied.User, denied.Verb)
	} else {
		return nil
	}
	if live = untouched; live == nil {
		live = a.onlyMarked(ctx, r, m)
	}
	if live != nil {
		a.log.Infof("- %s: left as it is, because the failed deployment did not change it and the cluster does not "+
			"take it now: %s", m.Key().Human(), why)
	}
	return live
}

// onlyMarked returns the live object when the failed deployment has applied the same manifest, with other marks; nil
// otherwise.
func (a *Applier) onlyMarked(ctx context.Context, r dynamic.ResourceInterface,
	m manifest.Manifest) *unstructured.Unstructured {
	if a.Restore == nil || a.Restore.Failed == nil || runsAgain(m) {
		return nil
	}
	failed, err := a.Restore.Failed(ctx)
	if err != nil {
		a.log.Infof("- %s: it is not known whether the failed deployment changed it: %v", m.Key().Human(), err)
		return nil
	}
	for _, one := range failed {
		if _, one, err = a.resource(one); err != nil || one.Key() != m.Key() || !a.isSame(one, m) {
			continue
		}
		live, err := r.Get(ctx, m.GetName(), metav1.GetOptions{})
		if err != nil || live.GetDeletionTimestamp() != nil {
			return nil
		}
		return live
	}
	return nil
}

// isSame leaves out the replicas that an autoscaler sets.
func (a *Applier) isSame(one, other manifest.Manifest) bool {
	if a.isScaled(one.Key()) {
		one, other = one.Clone(), other.Clone()
		for _, m := range []manifest.Manifest{one, other} {
			unstructured.RemoveNestedField(m.Object, "spec", "replicas")
		}
	}
	return equality.Semantic.DeepEqual(one.Object, other.Object)
}

// refusesForce reports whether fields of other managers are an error for a manifest, or were for the commit that a
// rollback goes back from.
func (a *Applier) refusesForce(ctx context.Context, r dynamic.ResourceInterface, m manifest.Manifest) bool {
	if keepsOthersFields(m) {
		return true
	}
	if a.Restore == nil {
		return false
	}
	live, err := r.Get(ctx, m.GetName(), metav1.GetOptions{})
	return err == nil && keepsOthersFields(manifest.Manifest{Unstructured: live})
}
