// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// pageSize bounds one answer of a list.
const pageSize = 500

// before is what piped managed of the manifests' kinds before they were applied.
type before struct {
	byUID map[types.UID]*state
	byKey map[manifest.Key]*state
}

type state struct {
	uid                  types.UID
	version, application string
	print                print
	// marks are those of another application; empty for an object of the own one.
	marks manifest.Marks
}

// look lists what piped manages in the manifests' namespaces, of their kinds. It serves what the user sees, and saves
// requests, so that what may not be listed is left out.
func (a *Applier) look(ctx context.Context, manifests []manifest.Manifest) before {
	type place struct {
		resource  schema.GroupVersionResource
		kind      string
		namespace string
	}
	places := map[place]bool{}
	for _, m := range manifests {
		gvk := m.GroupVersionKind()
		mapping, err := a.client.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		if err != nil {
			continue // said when it is applied, or it comes with a definition among the manifests
		}
		p := place{resource: mapping.Resource, kind: gvk.Kind}
		if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
			if p.namespace = m.GetNamespace(); p.namespace == "" {
				p.namespace = a.client.Namespace
			}
		}
		places[p] = true
	}
	own := ""
	if len(manifests) > 0 { // they are all of one application
		own = manifests[0].GetLabels()[manifest.LabelApplication]
	}
	found := before{byUID: map[types.UID]*state{}, byKey: map[manifest.Key]*state{}}
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(parallelRequests)
	for p := range places {
		group.Go(func() error {
			opts := metav1.ListOptions{Limit: pageSize,
				LabelSelector: labels.Set{manifest.LabelManagedBy: manifest.ManagedByPiped}.String()}
			for {
				page, err := a.client.Metadata.Resource(p.resource).Namespace(p.namespace).List(ctx, opts)
				if err != nil {
					return nil
				}
				mu.Lock()
				for i := range page.Items {
					o := &page.Items[i]
					was := &state{uid: o.UID, version: o.ResourceVersion, print: printOfLive(o),
						application: o.Labels[manifest.LabelApplication]}
					if was.application != own {
						was.marks = manifest.MarksOf(o)
					}
					found.byUID[o.UID] = was
					found.byKey[manifest.Key{Group: p.resource.Group, Kind: p.kind, Namespace: o.Namespace,
						Name: o.Name}] = was
				}
				mu.Unlock()
				if opts.Continue = page.Continue; opts.Continue == "" {
					return nil
				}
			}
		})
	}
	_ = group.Wait() // nothing fails
	return found
}

// others are the marks of those objects of the manifests that belong to other applications, by UID.
func (b before) others(manifests []manifest.Manifest, namespace string) map[types.UID]manifest.Marks {
	found := map[types.UID]manifest.Marks{}
	for _, m := range manifests {
		key := m.Key()
		was := b.byKey[key]
		if was == nil && key.Namespace == "" {
			key.Namespace = namespace
			was = b.byKey[key]
		}
		if was != nil && was.application != "" && was.application != m.GetLabels()[manifest.LabelApplication] {
			found[was.uid] = was.marks
		}
	}
	return found
}

// Words for what became of an object.
const (
	created   = "created"
	changed   = "changed"
	unchanged = "unchanged"
	// appliedOnly is an object that was there without marks.
	appliedOnly = "applied"
	recreated   = "deleted and created again"
)

// how says what became of an object; done is what the request itself shows.
func (b before) how(a Applied, done string) string {
	if done != appliedOnly {
		return done
	}
	was, known := b.byUID[a.Live.GetUID()]
	switch {
	case known && was.version == a.Live.GetResourceVersion():
		return unchanged
	case known:
		return changed
	}
	return done
}

// refresh looks again at what a later wave applies: it may have changed while the wave before was waited for.
func (b before) refresh(later before) {
	maps.Copy(b.byUID, later.byUID)
	maps.Copy(b.byKey, later.byKey)
}

// otherOwner is the application that had the object before; empty when none had it but the one that has it now.
func (b before) otherOwner(a Applied) string {
	known := b.byUID[a.Live.GetUID()]
	if known == nil {
		return ""
	}
	was := known.application
	if was == a.Live.GetLabels()[manifest.LabelApplication] {
		return ""
	}
	return was
}

// counts counts objects by what became of them.
type counts struct {
	mu     sync.Mutex
	number map[string]int
}

func (c *counts) add(how string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.number == nil {
		c.number = map[string]int{}
	}
	if how != created && how != unchanged {
		how = changed
	}
	c.number[how]++
}

// String is "2 created, 1 changed, 497 unchanged".
func (c *counts) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts []string
	for _, how := range []string{created, changed, unchanged} {
		if n := c.number[how]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, how))
		}
	}
	if len(parts) == 0 {
		return "nothing was applied"
	}
	return strings.Join(parts, ", ")
}
