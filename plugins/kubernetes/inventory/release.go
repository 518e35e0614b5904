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

// Release removes the marks of the application from an object, which otherwise stays as it is. It may be gone already,
// and another application may have taken it over since it was seen: that one keeps its marks.
func Release(ctx context.Context, c *cluster.Client, item Item, variantKey string) error {
	objects := c.Metadata.Resource(item.Resource).Namespace(item.Key.Namespace)
	seen := item.Meta
	var err error
	for range maxCrossed {
		var patch []byte
		if patch, err = withoutMarks(&seen, variantKey); err != nil {
			return err
		}
		_, err = objects.Patch(ctx, item.Key.Name, types.MergePatchType, patch,
			metav1.PatchOptions{FieldManager: "piped"})
		if !apierrors.IsConflict(err) {
			break
		}
		live, getErr := objects.Get(ctx, item.Key.Name, metav1.GetOptions{})
		if err = getErr; err != nil {
			break
		}
		if live.UID != seen.UID || !isOfSame(live, &item.Meta) {
			return nil
		}
		seen = live.ObjectMeta
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("remove the marks of the application from %s: %w", item.Key.Human(), err)
	}
	return nil
}

// withoutMarks is the patch that removes the marks from an object as it was seen: the API refuses another one by its
// uid, and another state by its version.
func withoutMarks(seen *metav1.ObjectMeta, variantKey string) ([]byte, error) {
	marks := map[string]any{}
	for key := range (manifest.Stamp{VariantKey: variantKey}).Labels() {
		marks[key] = nil
	}
	annotations := map[string]any{manifest.AnnotationOriginalAPIVersion: nil, manifest.AnnotationResourceKey: nil,
		manifest.AnnotationDeployTarget: nil}
	for key := range marks {
		annotations[key] = nil
	}
	metadata := map[string]any{"uid": seen.UID, "labels": marks, "annotations": annotations}
	if seen.ResourceVersion != "" {
		metadata["resourceVersion"] = seen.ResourceVersion
	}
	return json.Marshal(map[string]any{"metadata": metadata})
}
