// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/apply"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// dryRun asks the API what an apply of the manifest would make of the object; nothing is changed.
func (w *watched) dryRun(ctx context.Context, gvr schema.GroupVersionResource,
	m manifest.Manifest) (*unstructured.Unstructured, error) {
	data, err := json.Marshal(m.Object)
	if err != nil {
		return nil, err
	}
	force := true
	after, err := w.client.Dynamic.Resource(gvr).Namespace(m.GetNamespace()).Patch(ctx, m.GetName(),
		types.ApplyPatchType, data,
		metav1.PatchOptions{FieldManager: apply.FieldManager, Force: &force, DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return nil, err
	}
	_, err = w.trimRoot(after)
	return after, err
}
