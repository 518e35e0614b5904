// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

const (
	// parallelLists bounds the list requests that run at once.
	parallelLists = 16
	// pageSize bounds one answer.
	pageSize = 500
)

// Item is a resource in the cluster that piped manages.
type Item struct {
	Key      manifest.Key
	Resource schema.GroupVersionResource
	Meta     metav1.ObjectMeta
}

// Labels returns the labels to look for an application's resources; more may be added.
func Labels(applicationID string) labels.Set {
	return labels.Set{manifest.LabelManagedBy: manifest.ManagedByPiped, manifest.LabelApplication: applicationID}
}

// List returns the managed resources that have all the labels and are not Terminating, and the kinds that could not be
// asked for: one whose conversion webhook or whose aggregated API is dead holds nothing else up. Kinds that may be listed only inside of a namespace are looked for in the given ones.
func List(ctx context.Context, c *cluster.Client, selector labels.Set, namespaces []string) (items []Item,
	skipped []Skipped, err error) {
	items, skipped, err = ListAll(ctx, c, selector, namespaces)
	return Staying(items), skipped, err
}

// ListAll is List with what is Terminating.
func ListAll(ctx context.Context, c *cluster.Client, selector labels.Set, namespaces []string) (items []Item,
	skipped []Skipped, err error) {
	c.Discovery.Invalidate() // a kind that is new since the last time would be missed
	resources, skipped, err := listable(c.Discovery)
	if err != nil {
		return nil, nil, err
	}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelLists)
	for _, r := range resources {
		group.Go(func() error {
			found, err := listOne(ctx, c, r, selector.String(), namespaces)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				items = append(items, found...)
				return nil
			}
			left, is := skip(r, err)
			if !is {
				return fmt.Errorf("list %s: %w", r.gvr.GroupResource(), err)
			}
			skipped = append(skipped, left)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(items, func(a, b Item) int { return strings.Compare(a.Key.String(), b.Key.String()) })
	slices.SortFunc(skipped, func(a, b Skipped) int { return strings.Compare(a.Name(), b.Name()) })
	return items, skipped, nil
}

type resource struct {
	gvr        schema.GroupVersionResource
	kind       string
	namespaced bool
}

// listable returns every resource that can be listed and deleted, once, in the version the cluster prefers.
func listable(d discovery.DiscoveryInterface) (found []resource, skipped []Skipped, err error) {
	lists, err := discovery.ServerPreferredResources(d)
	var partial *discovery.ErrGroupDiscoveryFailed
	if errors.As(err, &partial) {
		for gv, err := range partial.Groups {
			skipped = append(skipped, Skipped{Group: gv.Group, Version: gv.Version, Reason: reasonOf(err),
				Unseen: true})
		}
	} else if err != nil {
		return nil, nil, fmt.Errorf("ask the cluster for its resources: %w", err)
	}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, r := range list.APIResources {
			if r.Kind == "Event" || strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "list") ||
				!slices.Contains(r.Verbs, "delete") {
				continue
			}
			found = append(found, resource{gvr: gv.WithResource(r.Name), kind: r.Kind, namespaced: r.Namespaced})
		}
	}
	return found, skipped, nil
}

func listOne(ctx context.Context, c *cluster.Client, r resource, selector string, namespaces []string) ([]Item, error) {
	items, err := listIn(ctx, c, r, selector, metav1.NamespaceAll)
	if !apierrors.IsForbidden(err) || !r.namespaced || len(namespaces) == 0 {
		return items, err
	}
	items = nil
	for _, namespace := range namespaces {
		found, err := listIn(ctx, c, r, selector, namespace)
		if err != nil {
			return nil, err
		}
		items = append(items, found...)
	}
	return items, nil
}

func listIn(ctx context.Context, c *cluster.Client, r resource, selector, namespace string) ([]Item, error) {
	var items []Item
	opts := metav1.ListOptions{LabelSelector: selector, Limit: pageSize}
	for {
		page, err := c.Metadata.Resource(r.gvr).Namespace(namespace).List(ctx, opts)
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			o := &page.Items[i]
			key := manifest.Key{Group: r.gvr.Group, Kind: r.kind, Namespace: o.Namespace, Name: o.Name}
			if !isManaged(&o.ObjectMeta) || IsCopy(o, key) {
				continue
			}
			items = append(items, Item{Key: key, Resource: r.gvr, Meta: o.ObjectMeta})
		}
		if opts.Continue = page.Continue; opts.Continue == "" {
			return items, nil
		}
	}
}

// Except returns the items that are not among the keys.
func Except(items []Item, keys []manifest.Key) []Item {
	wanted := make(map[manifest.Key]bool, len(keys))
	for _, k := range keys {
		wanted[k.Fold()] = true
	}
	return slices.DeleteFunc(slices.Clone(items), func(i Item) bool { return wanted[i.Key.Fold()] })
}

// ExceptSame returns the items that are none of the objects: some APIs show the objects of another one under their
// own kind, with the same UID, as OpenShift shows a Namespace as a Project.
func ExceptSame(items []Item, objects []types.UID) []Item {
	return slices.DeleteFunc(slices.Clone(items),
		func(i Item) bool { return i.Meta.UID != "" && slices.Contains(objects, i.Meta.UID) })
}
