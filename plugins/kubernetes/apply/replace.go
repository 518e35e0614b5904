// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// replace puts the manifest in the place of the live object, or creates it.
func (a *Applier) replace(ctx context.Context, r dynamic.ResourceInterface, m manifest.Manifest) (*unstructured.Unstructured, string, error) {
	live, err := r.Get(ctx, m.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return a.create(ctx, r, m)
	}
	if err != nil {
		return nil, "", err
	}
	next := m.Clone()
	next.SetResourceVersion(live.GetResourceVersion())
	live, err = r.Update(ctx, next.Unstructured, metav1.UpdateOptions{FieldManager: FieldManager, FieldValidation: metav1.FieldValidationStrict})
	return live, "replaced", err
}

func (a *Applier) create(ctx context.Context, r dynamic.ResourceInterface, m manifest.Manifest) (*unstructured.Unstructured, string, error) {
	live, err := r.Create(ctx, m.Unstructured, metav1.CreateOptions{FieldManager: FieldManager, FieldValidation: metav1.FieldValidationStrict})
	return live, "created", err
}

// forceReplace deletes the live object with its dependants and creates it anew. The API is asked first whether it would take
// the new one: what cannot be created must not cost what is there.
func (a *Applier) forceReplace(ctx context.Context, r dynamic.ResourceInterface, m manifest.Manifest) (*unstructured.Unstructured, string, error) {
	live, err := r.Get(ctx, m.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return a.create(ctx, r, m)
	}
	if err != nil {
		return nil, "", err
	}
	if err := tryToCreate(ctx, r, m); err != nil {
		return nil, "", err
	}
	uid := live.GetUID()
	policy := metav1.DeletePropagationBackground
	err = r.Delete(ctx, m.GetName(), metav1.DeleteOptions{PropagationPolicy: &policy, Preconditions: &metav1.Preconditions{UID: &uid}})
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, "", err
	}
	if err := a.awaitGone(ctx, r, m, uid); err != nil {
		return nil, "", err
	}
	live, _, err = a.create(ctx, r, m)
	return live, "deleted and created anew", err
}

// tryToCreate asks the API whether it would take the manifest for a new object. That the name is taken is no refusal.
func tryToCreate(ctx context.Context, r dynamic.ResourceInterface, m manifest.Manifest) error {
	_, err := r.Create(ctx, m.Unstructured, metav1.CreateOptions{
		FieldManager: FieldManager, FieldValidation: metav1.FieldValidationStrict, DryRun: []string{metav1.DryRunAll},
	})
	// What is invalid in a Service may be that the live one has its address or ports.
	if apierrors.IsBadRequest(err) || apierrors.IsInvalid(err) && !m.Is(manifest.KindService) {
		return err
	}
	return nil
}
