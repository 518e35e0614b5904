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
	return remark(ctx, c, item, variantKey, manifest.Marks{})
}

// GiveBack is Release that puts the marks of the application on which the object had before.
func GiveBack(ctx context.Context, c *cluster.Client, item Item, variantKey string, before manifest.Marks) error {
	return remark(ctx, c, item, variantKey, before)
}

// ForgetCommit removes the mark of the commit that applied an object, which otherwise stays the application's. The
// object may be gone, or another one of its name, by now.
func ForgetCommit(ctx context.Context, c *cluster.Client, item Item) error {
	if item.Meta.Annotations[manifest.LabelCommitHash] == "" {
		return nil
	}
	none := map[string]any{manifest.LabelCommitHash: nil}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": item.Meta.UID, "labels": none, "annotations": none}})
	if err != nil {
		return err
	}
	err = send(ctx, c, item, patch)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("remove the mark of the commit from %s: %w", item.Key.Human(), err)
	}
	return nil
}

// send sends a patch, which may come twice.
func send(ctx context.Context, c *cluster.Client, item Item, patch []byte) error {
	objects := c.Metadata.Resource(item.Resource).Namespace(item.Key.Namespace)
	return cluster.DefaultRetry.Do(ctx, cluster.Retryable, func() error {
		_, err := objects.Patch(ctx, item.Key.Name, types.MergePatchType, patch,
			metav1.PatchOptions{FieldManager: "piped"})
		return err
	})
}

func remark(ctx context.Context, c *cluster.Client, item Item, variantKey string, before manifest.Marks) error {
	objects := c.Metadata.Resource(item.Resource).Namespace(item.Key.Namespace)
	seen := item.Meta
	var err error
	for range maxCrossed {
		var patch []byte
		if patch, err = otherMarks(&seen, variantKey, before); err != nil {
			return err
		}
		err = send(ctx, c, item, patch)
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

// otherMarks is the patch that replaces the marks of an object as it was seen: the API refuses another one by its uid,
// and another state by its version.
func otherMarks(seen *metav1.ObjectMeta, variantKey string, before manifest.Marks) ([]byte, error) {
	marks := map[string]any{}
	for key := range (manifest.Stamp{VariantKey: variantKey}).Labels() {
		marks[key] = nil
	}
	annotations := map[string]any{manifest.AnnotationOriginalAPIVersion: nil, manifest.AnnotationResourceKey: nil,
		manifest.AnnotationDeployTarget: nil, manifest.AnnotationGivenBack: nil}
	for key := range marks {
		annotations[key] = nil
	}
	for key, value := range before.Labels {
		marks[key], annotations[key] = value, value
	}
	for key, value := range before.Annotations {
		annotations[key] = value
	}
	if before.Application() != "" {
		annotations[manifest.AnnotationGivenBack] = seen.Labels[manifest.LabelApplication]
	}
	metadata := map[string]any{"uid": seen.UID, "labels": marks, "annotations": annotations}
	if seen.ResourceVersion != "" {
		metadata["resourceVersion"] = seen.ResourceVersion
	}
	return json.Marshal(map[string]any{"metadata": metadata})
}
