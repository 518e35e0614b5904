// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/phase"
)

// kindClaim is the kind that holds the data of pods.
const kindClaim = "PersistentVolumeClaim"

// runsAgain reports whether a manifest is a hook that is deleted and created again in each deployment: a Job or a Pod,
// or one whose policy says so.
func runsAgain(m manifest.Manifest) bool {
	if !manifest.IsHook(m) {
		return false
	}
	p, err := phase.Of(m)
	return phase.Runs(m) || err == nil && p.Policy.Recreate
}

// ownHook returns an error for an object that has the name of a hook and is not the application's: deleting it would
// end what another application, or a user, runs. A hook without an application is what helm has left.
func (a *Applier) ownHook(m manifest.Manifest, live *unstructured.Unstructured) error {
	owner, own := live.GetAnnotations()[manifest.LabelApplication], m.GetAnnotations()[manifest.LabelApplication]
	what := ""
	switch {
	case owner == own && own != "", owner == "" && manifest.IsHook(manifest.Manifest{Unstructured: live}):
		return nil
	case owner == "":
		what = "is no hook, and piped has not created it"
	default:
		what = "belongs to the application " + a.named(owner)
	}
	next := "rename the hook, or delete the object when it is not needed"
	if m.GetKind() == kindClaim {
		next = "to keep what the object holds, deploy it without the annotations of a hook: the application then " +
			"takes it over as it is; or " + next
	}
	return fmt.Errorf("%s: the hook %s does not run, because an object of its name exists that %s\n"+
		"next step: %s", m.Origin, m.Key().Human(), what, next)
}

// checkHook is ownHook for what the cluster has now: also a hook that is applied in place would take it over, and its
// delete policy would then delete it.
func (a *Applier) checkHook(ctx context.Context, r dynamic.ResourceInterface, m manifest.Manifest) error {
	if !manifest.IsHook(m) {
		return nil
	}
	live, err := r.Get(ctx, m.GetName(), metav1.GetOptions{})
	if err != nil {
		return nil // there is none, or it is said when it is applied
	}
	return a.ownHook(m, live)
}

// runHook creates a hook, in the place of the one that another deployment has left. What this run of the hook itself
// has created stays: another attempt of the stage must not run it twice.
func (a *Applier) runHook(ctx context.Context, r dynamic.ResourceInterface,
	m manifest.Manifest) (*unstructured.Unstructured, string, error) {
	live, err := r.Get(ctx, m.GetName(), metav1.GetOptions{})
	run := m.GetAnnotations()[manifest.AnnotationHookRun]
	switch {
	case apierrors.IsNotFound(err):
		return a.create(ctx, r, m)
	case err != nil:
		return nil, "", err
	case run != "" && live.GetAnnotations()[manifest.AnnotationHookRun] == run:
		a.log.Infof("- %s: an earlier attempt in this deployment has begun it; it does not run twice", m.Key().Human())
		return live, unchanged, nil
	}
	a.log.Infof("- %s: the hook ran in an earlier deployment; it is deleted and created again to run in this one",
		m.Key().Human())
	return a.forceReplace(ctx, r, m)
}
