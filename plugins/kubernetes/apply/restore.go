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
	err = a.retry.do(ctx, func() error {
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
			"application %s", m.Key().Human(), owner)
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
	return applied, "applied", err
}

// leaveRefused reports whether an object that the failed deployment did not change stays as it is, because the cluster
// does not take its manifest now: there is nothing to go back from.
func (a *Applier) leaveRefused(m manifest.Manifest, err error) bool {
	why := ""
	if refused, is := errors.AsType[*RefusedError](err); is {
		why = refused.Reason
	} else if denied, is := errors.AsType[*DeniedError](err); is {
		why = fmt.Sprintf("the user %s of the kubeconfig may not %s it", denied.User, denied.Verb)
	} else {
		return false
	}
	a.log.Infof("- %s: left as it is, because the failed deployment did not change it and the cluster does not take "+
		"it now: %s", m.Key().Human(), why)
	return true
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
