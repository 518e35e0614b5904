// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// Release removes the marks of the application from an object, which otherwise stays as it is. It may be gone already.
func Release(ctx context.Context, c *cluster.Client, item Item, variantKey string) error {
	marks := map[string]any{}
	for key := range (manifest.Stamp{VariantKey: variantKey}).Labels() {
		marks[key] = nil
	}
	annotations := map[string]any{manifest.AnnotationOriginalAPIVersion: nil, manifest.AnnotationResourceKey: nil,
		manifest.AnnotationDeployTarget: nil}
	for key := range marks {
		annotations[key] = nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": item.Meta.UID, "labels": marks, "annotations": annotations, // the API refuses another object by its uid
	}})
	if err != nil {
		return err
	}
	_, err = c.Metadata.Resource(item.Resource).Namespace(item.Key.Namespace).Patch(ctx, item.Key.Name,
		types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "piped"})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("remove the marks of the application from %s: %w", item.Key.Human(), err)
	}
	return nil
}
