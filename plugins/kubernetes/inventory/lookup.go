// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// Lookup returns those of the manifests that are in the cluster, not Terminating, and belong to the application by
// their annotations: what List may miss, because someone has changed the labels or the kind may not be listed. A
// manifest without a namespace is in the client's own when its kind has one. What may not be read is left out.
func Lookup(ctx context.Context, c *cluster.Client, applicationID string, manifests []manifest.Manifest) ([]Item,
	error) {
	items, err := LookupAll(ctx, c, applicationID, manifests)
	return Staying(items), err
}

// LookupAll is Lookup with what is Terminating.
func LookupAll(ctx context.Context, c *cluster.Client, applicationID string, manifests []manifest.Manifest) ([]Item,
	error) {
	found := make([]*Item, len(manifests))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelLists)
	for i, m := range manifests {
		group.Go(func() (err error) {
			found[i], err = lookUp(ctx, c, applicationID, m.Key())
			if found[i] != nil && manifest.IsChartCRD(m) { // it may have been applied by a version that did not mark it
				manifest.MarkChartCRD(&found[i].Meta)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var items []Item
	for _, item := range found {
		if item != nil {
			items = append(items, *item)
		}
	}
	return items, nil
}

func lookUp(ctx context.Context, c *cluster.Client, applicationID string, key manifest.Key) (*Item, error) {
	mapping, err := c.Mapper.RESTMapping(schema.GroupKind{Group: key.Group, Kind: key.Kind})
	if meta.IsNoMatchError(err) {
		return nil, nil // its definition is gone, and every object with it
	}
	if err != nil {
		return nil, fmt.Errorf("ask the cluster which resource %s is: %w", key.Kind, err)
	}
	switch {
	case mapping.Scope.Name() != meta.RESTScopeNameNamespace:
		key.Namespace = ""
	case key.Namespace == "":
		key.Namespace = c.Namespace
	}
	o, err := c.Metadata.Resource(mapping.Resource).Namespace(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err), apierrors.IsMethodNotSupported(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look for %s: %w", key.Human(), err)
	case !isManaged(o, key), IsCopy(o, key), o.Annotations[manifest.LabelApplication] != applicationID:
		return nil, nil
	}
	return &Item{Key: key, Resource: mapping.Resource, Meta: o.ObjectMeta}, nil
}

// isManaged reports whether piped itself has made an object.
func isManaged(o metav1.Object, key manifest.Key) bool {
	return !IsOfOwner(o, key) && o.GetAnnotations()[manifest.LabelManagedBy] == manifest.ManagedByPiped
}

// IsOfOwner reports whether a controller has made an object, and not piped: it has an owner, and its marks do not name
// it. Controllers copy the labels and annotations of an object to those that it owns, so that the marks of these name
// the owner. What has an owner in Git has its own.
func IsOfOwner(o metav1.Object, key manifest.Key) bool {
	if len(o.GetOwnerReferences()) == 0 {
		return false
	}
	marked, complete := markedKey(o)
	return !complete || !strings.EqualFold(marked.Group, key.Group) || isAnother(marked, key)
}

// IsCopy reports whether an object has the marks of another one: who copies an object, by hand or to mirror or restore
// it, takes its labels and annotations along. Marks that are not complete say nothing.
func IsCopy(o metav1.Object, key manifest.Key) bool {
	label, annotation := o.GetLabels()[manifest.LabelApplication], o.GetAnnotations()[manifest.LabelApplication]
	if label != "" && annotation != "" && label != annotation {
		return true
	}
	marked, complete := markedKey(o)
	return complete && isAnother(marked, key)
}

// markedKey is the key that the marks of an object name; false when they are not complete.
func markedKey(o metav1.Object) (manifest.Key, bool) {
	marked := strings.SplitN(o.GetAnnotations()[manifest.AnnotationResourceKey], ":", 4)
	if len(marked) < 4 {
		return manifest.Key{}, false
	}
	return manifest.Key{Group: marked[0], Kind: marked[1], Namespace: marked[2], Name: marked[3]}, true
}

// isAnother reports whether a marked key is that of another object, in whichever API group.
func isAnother(marked, key manifest.Key) bool {
	was, is := marked.Fold(), key.Fold()
	// A manifest may name no namespace where the object has one, and one where it has none.
	return was.Kind != is.Kind || was.Name != is.Name || was.Namespace != "" && is.Namespace != was.Namespace &&
		key.Namespace != ""
}

// Union returns all items, each once.
func Union(items, more []Item) []Item {
	known := make(map[manifest.Key]bool, len(items))
	for _, i := range items {
		known[i.Key.Fold()] = true
	}
	all := slices.Clone(items)
	for _, i := range more {
		if !known[i.Key.Fold()] {
			known[i.Key.Fold()] = true
			all = append(all, i)
		}
	}
	return all
}
