// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// Kept is an item that must not be deleted. The reason completes "X is kept, …".
type Kept struct {
	Item
	Reason string
}

// Deletable separates the items that may be deleted from those that must be kept: an annotation excludes them, or they
// would take objects with them that are not among the items. Those are a Namespace and the objects in it, and a
// CustomResourceDefinition and the objects of its kind. (PipeCD v1 deletes all of them.)
func Deletable(ctx context.Context, c *cluster.Client, items []Item) (deletable []Item, kept []Kept, err error) {
	for _, i := range items {
		if reason := manifest.Exclusion(&i.Meta); reason != "" {
			kept = append(kept, Kept{i, reason})
		} else {
			deletable = append(deletable, i)
		}
	}
	if !slices.ContainsFunc(deletable, isContainer) {
		return deletable, kept, nil
	}
	contents, err := newContents(c, deletable)
	if err != nil {
		return nil, nil, err
	}
	var safe []Item
	for _, i := range deletable {
		reason := ""
		if isContainer(i) {
			if reason, err = contents.reason(ctx, i); err != nil {
				return nil, nil, err
			}
		}
		if reason != "" {
			kept = append(kept, Kept{i, reason})
		} else {
			safe = append(safe, i)
		}
	}
	// Some APIs show an object under another kind, too: it must not be deleted by that name either.
	same := make([]types.UID, len(kept))
	for n, k := range kept {
		same[n] = k.Meta.UID
	}
	return ExceptSame(safe, same), kept, nil
}

// isContainer reports whether the deletion of an item deletes other objects that no owner reference shows. One that is
// Terminating has been deleted already.
func isContainer(i Item) bool { return !IsLeaving(i) && (isNamespace(i.Key) || isDefinition(i.Key)) }

func isNamespace(k manifest.Key) bool {
	return k.Group == "" && k.Kind == manifest.KindNamespace || k.Group == "project.openshift.io" && k.Kind == "Project"
}

func isDefinition(k manifest.Key) bool {
	return k.Group == "apiextensions.k8s.io" && k.Kind == manifest.KindCRD
}
