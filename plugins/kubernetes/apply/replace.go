// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// replace puts the manifest in the place of the live object, or creates it.
func (a *Applier) replace(ctx context.Context, r dynamic.ResourceInterface,
	m manifest.Manifest) (*unstructured.Unstructured, string, error) {
	live, err := r.Get(ctx, m.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return a.create(ctx, r, m)
	}
	if err != nil {
		return nil, "", err
	}
	next := m.Clone()
	next.SetResourceVersion(live.GetResourceVersion())
	live, err = r.Update(ctx, next.Unstructured, metav1.UpdateOptions{FieldManager: FieldManager,
		FieldValidation: metav1.FieldValidationStrict})
	return live, "replaced", err
}

func (a *Applier) create(ctx context.Context, r dynamic.ResourceInterface,
	m manifest.Manifest) (*unstructured.Unstructured, string, error) {
	live, err := r.Create(ctx, m.Unstructured, metav1.CreateOptions{FieldManager: FieldManager,
		FieldValidation: metav1.FieldValidationStrict})
	return live, created, err
}

// forceReplace deletes the live object with its dependants and creates it again. The API is asked first whether it
// would take the new one: what cannot be created must not cost what is there.
func (a *Applier) forceReplace(ctx context.Context, r dynamic.ResourceInterface,
	m manifest.Manifest) (*unstructured.Unstructured, string, error) {
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
	if err := a.checkContents(ctx, m, live.GetUID()); err != nil {
		return nil, "", err
	}
	uid := live.GetUID()
	policy := metav1.DeletePropagationBackground
	err = r.Delete(ctx, m.GetName(), metav1.DeleteOptions{PropagationPolicy: &policy,
		Preconditions: &metav1.Preconditions{UID: &uid}})
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, "", err
	}
	if err := a.awaitGone(ctx, r, m, uid); err != nil {
		return nil, "", err
	}
	live, _, err = a.create(ctx, r, m)
	return live, recreated, err
}

// checkContents refuses to delete a Namespace or a definition that objects would go with: they do not come back with
// it.
func (a *Applier) checkContents(ctx context.Context, m manifest.Manifest, uid types.UID) error {
	if !m.Is(manifest.KindNamespace) && !m.Is(manifest.KindCRD) {
		return nil
	}
	_, kept, err := inventory.Deletable(ctx, a.client,
		[]inventory.Item{{Key: m.Key(), Meta: metav1.ObjectMeta{UID: uid}}})
	if err != nil || len(kept) == 0 {
		return err
	}
	return &RefusedError{
		Key: m.Key(), Where: m.Origin.At("metadata.annotations"), Err: errHoldsObjects,
		Reason: "it is not deleted and created again, " + kept[0].Reason,
		Remedy: "delete or move these objects, or remove the annotation " + manifest.AnnotationForceReplace,
	}
}

var errHoldsObjects = errors.New("it holds objects")

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
