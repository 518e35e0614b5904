// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// Unshared parts from the items those that would take objects of other applications with them: a Namespace that holds some,
// and the definition of a kind that they have objects of. (PipeCD v1 deletes these.)
func Unshared(ctx context.Context, c *cluster.Client, applicationID string, items []Item) (alone, shared []Item, err error) {
	if !slices.ContainsFunc(items, holdsOthers) {
		return items, nil, nil
	}
	var namespaces []string
	for _, i := range items {
		if i.Key.Namespace == "" && i.Key.Kind == manifest.KindNamespace {
			namespaces = append(namespaces, i.Key.Name)
		}
	}
	all, _, err := List(ctx, c, labels.Set{manifest.LabelManagedBy: manifest.ManagedByPiped}, namespaces)
	if err != nil {
		return nil, nil, err
	}
	for _, i := range items {
		if holdsOthers(i) && slices.ContainsFunc(all, func(other Item) bool {
			return other.Meta.Labels[manifest.LabelApplication] != applicationID &&
				(i.Key.Kind == manifest.KindNamespace && other.Key.Namespace == i.Key.Name ||
					i.Key.Kind == manifest.KindCRD && other.Resource.GroupResource().String() == i.Key.Name)
		}) {
			shared = append(shared, i)
		} else {
			alone = append(alone, i)
		}
	}
	return alone, shared, nil
}

func holdsOthers(i Item) bool {
	return i.Key.Group == "" && i.Key.Kind == manifest.KindNamespace ||
		i.Key.Group == "apiextensions.k8s.io" && i.Key.Kind == manifest.KindCRD
}
