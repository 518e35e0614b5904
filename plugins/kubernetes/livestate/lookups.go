// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/apply"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// A chart that looks something up, or reads whether it is installed, may render otherwise after its own deployment: it
// counts, or leaves out what it finds. What the last deployment has written, and no one has changed since, is no drift,
// whatever the chart would write now.

// isDeployed reports whether the commit itself has applied an object that its charts, which vary, leave out now.
func (d *drift) isDeployed(live *unstructured.Unstructured) bool {
	return d.varies && live.GetAnnotations()[manifest.LabelCommitHash] == d.source.CommitHash
}

// sinceDeployed leaves out the differences in fields that still are as the deployment of the commit has written them,
// where charts vary. Their managers say so: who changes a field becomes its manager. The watches do not keep our own
// fields, so the API is asked.
func (d *drift) sinceDeployed(ctx context.Context, p place, live *unstructured.Unstructured, found []difference) (
	[]difference, error) {
	if len(found) == 0 || !d.isDeployed(live) {
		return found, nil
	}
	entries, err := d.managers(ctx, p.gvr, live)
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		return found, nil
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(found), func(one difference) bool {
		return oursAlone(entries, live, one.path)
	}), nil
}

// oursAlone reports whether a field was written by an apply of ours, and by no one else since.
func oursAlone(entries []metav1.ManagedFieldsEntry, live *unstructured.Unstructured, path string) bool {
	ours := false
	for _, entry := range entries {
		if entry.Subresource != "" || !owns(entry, live, path) && !owns(entry, live, writtenAs(live, path)) {
			continue
		}
		if entry.Manager != apply.FieldManager || entry.Operation != metav1.ManagedFieldsOperationApply {
			return false
		}
		ours = true
	}
	return ours
}

// writtenAs is the path that a value of a Secret has for who has written it as plain text: the API keeps that path
// among the fields of managers, although it stores the value in data.
func writtenAs(live *unstructured.Unstructured, path string) string {
	name, of := strings.CutPrefix(path, "data")
	if of && live.GetKind() == manifest.KindSecret && live.GroupVersionKind().Group == "" {
		return "stringData" + name
	}
	return path
}

// managers asks who has written the fields of an object.
func (w *watched) managers(ctx context.Context, gvr schema.GroupVersionResource, o *unstructured.Unstructured) (
	[]metav1.ManagedFieldsEntry, error) {
	found, err := w.client.Metadata.Resource(gvr).Namespace(o.GetNamespace()).Get(ctx, o.GetName(), metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return found.ManagedFields, nil
}
