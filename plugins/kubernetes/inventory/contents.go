// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

const (
	// maxCounted bounds the objects that are counted in one container.
	maxCounted = 1000
	// maxNamed bounds the objects that a reason names.
	maxNamed = 3
)

// contents finds what is in Namespaces, and of the kinds of CustomResourceDefinitions, that is not deleted with them.
type contents struct {
	client    *cluster.Client
	resources []resource
	// unknown are the APIs that do not answer which kinds they have.
	unknown []Skipped
	// leaving are the objects that are deleted, too.
	leaving map[types.UID]bool
}

func newContents(c *cluster.Client, leaving []Item) (*contents, error) {
	c.Discovery.Invalidate()
	resources, unknown, err := listable(c.Discovery)
	if err != nil {
		return nil, err
	}
	found := &contents{client: c, resources: resources, unknown: unknown, leaving: map[types.UID]bool{}}
	for _, i := range leaving {
		found.leaving[i.Meta.UID] = true
	}
	return found, nil
}

func names(skipped []Skipped) []string {
	list := make([]string, len(skipped))
	for i, s := range skipped {
		list[i] = s.Name()
	}
	return list
}

// reason returns why a container must be kept; empty when everything in it is deleted as well.
func (f *contents) reason(ctx context.Context, container Item) (string, error) {
	if isNamespace(container.Key) {
		namespaced := slices.DeleteFunc(slices.Clone(f.resources), func(r resource) bool { return !r.namespaced })
		return f.holding(ctx, namespaced, container.Key.Name, &held{unknown: names(f.unknown)}, f.isNamespaced)
	}
	for _, r := range f.resources {
		if r.gvr.GroupResource().String() == container.Key.Name {
			return f.holding(ctx, []resource{r}, metav1.NamespaceAll, &held{}, func(kind schema.GroupVersionKind) bool {
				return kind.GroupKind() == schema.GroupKind{Group: r.gvr.Group, Kind: r.kind}
			})
		}
	}
	return "because the API does not serve its kind now, so its objects cannot be listed; deploy again when it does",
		nil
}

// holding lists the places. Owners of an isListed kind are among what is listed.
func (f *contents) holding(ctx context.Context, places []resource, namespace string, held *held,
	isListed func(schema.GroupVersionKind) bool) (string, error) {
	group, listing := errgroup.WithContext(ctx)
	group.SetLimit(parallelLists)
	for _, r := range places {
		group.Go(func() error { return f.list(listing, r, namespace, held, isListed) })
	}
	if err := group.Wait(); err != nil {
		return "", err
	}
	return held.String(), nil
}

// list adds the objects of a kind that stay. A kind that cannot be listed is noted: it may have objects.
func (f *contents) list(ctx context.Context, r resource, namespace string, held *held,
	isListed func(schema.GroupVersionKind) bool) error {
	opts := metav1.ListOptions{Limit: pageSize}
	for {
		page, err := f.client.Metadata.Resource(r.gvr).Namespace(namespace).List(ctx, opts)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err):
			return nil
		case err != nil:
			held.cannotList(r)
			return nil
		}
		for i := range page.Items {
			key := manifest.Key{Group: r.gvr.Group, Kind: r.kind, Namespace: page.Items[i].Namespace,
				Name: page.Items[i].Name}
			if f.stays(&page.Items[i].ObjectMeta, key, isListed) && !held.add(page.Items[i].UID, key) {
				return nil
			}
		}
		if opts.Continue = page.Continue; opts.Continue == "" {
			return nil
		}
	}
}

// stays reports whether an object is neither deleted itself nor leaves with an owner, which is judged by itself.
func (f *contents) stays(o *metav1.ObjectMeta, key manifest.Key, isListed func(schema.GroupVersionKind) bool) bool {
	if f.leaving[o.UID] || o.DeletionTimestamp != nil || isMadeByCluster(o, key) {
		return false
	}
	return !slices.ContainsFunc(o.OwnerReferences, func(owner metav1.OwnerReference) bool {
		return f.leaving[owner.UID] || isListed(schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind))
	})
}

// isNamespaced reports whether an owner of a kind is in the namespace of what it owns.
func (f *contents) isNamespaced(kind schema.GroupVersionKind) bool {
	mapping, err := f.client.Mapper.RESTMapping(kind.GroupKind(), kind.Version)
	return err == nil && mapping.Scope.Name() == meta.RESTScopeNameNamespace
}

// providedMaps are ConfigMaps that a cluster puts into every namespace.
var providedMaps = []string{"kube-root-ca.crt", "istio-ca-root-cert", "openshift-service-ca.crt"}

// isMadeByCluster reports whether the cluster makes the object by itself in each namespace, or for a Service or an
// account that is listed, too.
func isMadeByCluster(o *metav1.ObjectMeta, key manifest.Key) bool {
	switch {
	case key.Group != "":
		return false
	case key.Kind == manifest.KindConfigMap:
		return slices.Contains(providedMaps, key.Name)
	case key.Kind == "ServiceAccount":
		return key.Name == "default"
	case key.Kind == manifest.KindSecret:
		return o.Annotations["kubernetes.io/service-account.uid"] != ""
	case key.Kind == "Endpoints":
		return o.Labels["endpoints.kubernetes.io/managed-by"] == "endpoint-controller"
	}
	return false
}

// held is what holds one container. It may be used by several goroutines.
type held struct {
	mu      sync.Mutex
	keys    map[types.UID]manifest.Key
	unknown []string
}

// add reports whether more objects are counted.
func (h *held) add(uid types.UID, key manifest.Key) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.keys == nil {
		h.keys = map[types.UID]manifest.Key{}
	}
	if len(h.keys) < maxCounted {
		h.keys[uid] = key
	}
	return len(h.keys) < maxCounted
}

func (h *held) cannotList(r resource) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unknown = append(h.unknown, r.gvr.GroupResource().String())
}

// String is the reason, with the names of some objects and the number of all.
func (h *held) String() string {
	switch {
	case len(h.keys) == 0 && len(h.unknown) == 0:
		return ""
	case len(h.keys) == 0:
		slices.Sort(h.unknown)
		return "because it may hold objects of kinds that cannot be listed: " + strings.Join(h.unknown, ", ")
	}
	names := make([]string, 0, len(h.keys))
	for _, key := range h.keys {
		names = append(names, key.Human())
	}
	slices.SortFunc(names, cmp.Compare)
	count, noun := fmt.Sprint(len(names)), "objects that are"
	switch {
	case len(names) == 1:
		noun = "object that is"
	case len(names) == maxCounted:
		count = "at least " + count
	}
	text := strings.Join(names[:min(maxNamed, len(names))], ", ")
	if more := len(names) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("because it holds %s %s not deleted with it: %s", count, noun, text)
}
