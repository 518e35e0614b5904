// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// Trial is what an apply of a manifest would do.
type Trial struct {
	// Manifest is in the namespace in which it would be applied.
	Manifest manifest.Manifest
	// Live is the object as it is, nil when there is none; After is what the API would make of it, defaults and all.
	Live, After *unstructured.Unstructured
	// Recreate is set when the object would be deleted and created again. After is the manifest then.
	Recreate bool
}

// Try asks the API what it would make of a manifest, and changes nothing. Its errors are those of Apply: a
// *RefusedError when the API does not take the manifest.
func (a *Applier) Try(ctx context.Context, m manifest.Manifest) (Trial, error) {
	r, m, err := a.resource(m)
	if err != nil {
		return Trial{}, err
	}
	trial := Trial{Manifest: m}
	err = a.retry.Do(cluster.WithWarnings(ctx, func(string) {}), retryable, func() error {
		if err := a.keepReplicas(ctx, r, m); err != nil {
			return err
		}
		trial.Live, err = r.Get(ctx, m.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			trial.Live, err = nil, nil
		}
		if err != nil {
			return err
		}
		annotations := m.GetAnnotations()
		replaced := annotations[manifest.AnnotationReplace] == manifest.Enabled
		switch {
		case trial.Live != nil && (annotations[manifest.AnnotationForceReplace] == manifest.Enabled || runsAgain(m)):
			trial.Recreate, trial.After = true, m.Unstructured
		case trial.Live != nil && replaced:
			next := m.Clone()
			next.SetResourceVersion(trial.Live.GetResourceVersion())
			trial.After, err = r.Update(ctx, next.Unstructured, metav1.UpdateOptions{
				FieldManager: FieldManager, FieldValidation: metav1.FieldValidationStrict,
				DryRun: []string{metav1.DryRunAll},
			})
		default:
			var data []byte
			if data, err = json.Marshal(m.Object); err != nil {
				return err
			}
			opts := patchOptions(!keepsOthersFields(m))
			opts.DryRun = []string{metav1.DryRunAll}
			trial.After, err = r.Patch(ctx, m.GetName(), types.ApplyPatchType, data, opts)
		}
		return err
	})
	if err != nil {
		return trial, a.describe(ctx, err, r, m)
	}
	return trial, nil
}
