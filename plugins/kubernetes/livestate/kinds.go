// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
)

const (
	// maxMissing bounds the unknown kinds that are waited for.
	maxMissing = 256
	// Discovery follows a definition by up to some seconds, and cannot be watched: pauses between two looks, and their
	// number.
	firstLook, longestLook = 100 * time.Millisecond, 5 * time.Second
	maxLooks               = 10
	// blindPause is the least time between two looks for an unknown kind where definitions cannot be watched.
	blindPause = time.Minute
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
	Resource: "customresourcedefinitions"}

// kinds is what a watched cluster knows of kinds that it does not know.
type kinds struct {
	// missing are the applications to report when a kind is there.
	missing map[schema.GroupVersionKind]map[string]bool
	// users are the applications that have objects of a custom kind; gone are those whose kind has been removed.
	users, gone map[schema.GroupResource]map[string]bool
	// changed says that a definition has come, gone or become another.
	changed chan struct{}
	// followed is set once the definitions are watched.
	followed bool
	// looked is when a kind was last looked for without that.
	looked time.Time
}

func newKinds() kinds {
	return kinds{
		missing: map[schema.GroupVersionKind]map[string]bool{}, changed: make(chan struct{}, 1),
		users: map[schema.GroupResource]map[string]bool{}, gone: map[schema.GroupResource]map[string]bool{},
	}
}

// isCustom reports groups that no Kubernetes has by itself.
func isCustom(group string) bool {
	return strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}

// misses notes that an application has a kind that the cluster does not know; news reports whether the kind is new.
func (w *watched) misses(kind schema.GroupVersionKind, applicationID string) (news bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	waiting := w.kinds.missing[kind]
	if waiting == nil {
		if len(w.kinds.missing) == maxMissing {
			return true
		}
		news, waiting = true, map[string]bool{}
		w.kinds.missing[kind] = waiting
	}
	waiting[applicationID] = true
	return news
}

// uses notes that an application has objects of a custom kind.
func (w *watched) uses(resource schema.GroupResource, applicationID string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	using := w.kinds.users[resource]
	if using == nil {
		if len(w.kinds.users) == maxMissing {
			return
		}
		using = map[string]bool{}
		w.kinds.users[resource] = using
	}
	using[applicationID] = true
}

// followKinds watches the definitions of custom kinds from the first application on that has one. Who may not do that
// looks again from time to time, when asked.
func (w *watched) followKinds(ctx context.Context) error {
	i, err := w.informer(informerKey{gvr: definitions, bare: true})
	if err != nil {
		return err
	}
	w.mu.Lock()
	if !w.kinds.followed && w.ctx.Err() == nil {
		w.kinds.followed = true
		w.runs.Go(w.awaitKinds)
	}
	w.mu.Unlock()
	if err := i.filled(ctx); err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := time.Now(); now.Sub(w.kinds.looked) >= blindPause {
		w.kinds.looked = now
		w.client.Mapper.Reset()
	}
	return nil
}

// awaitKinds reports applications whose kinds have become known, until the watches end.
func (w *watched) awaitKinds() {
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-w.kinds.changed:
		}
		pauses := cluster.Pauses(firstLook, longestLook)
		for range maxLooks {
			w.client.Mapper.Reset()
			if !w.foundKinds() {
				break
			}
			if cluster.Wait(w.ctx, pauses) != nil {
				return
			}
		}
	}
}

// foundKinds reports kinds that are there now, or not any more. more says that others may be so soon: their definition
// is there, or gone.
func (w *watched) foundKinds() (more bool) {
	w.mu.Lock()
	missing := slices.Collect(maps.Keys(w.kinds.missing))
	gone := slices.Collect(maps.Keys(w.kinds.gone))
	defined := w.informers[informerKey{gvr: definitions, bare: true}]
	w.mu.Unlock()
	for _, kind := range missing {
		if _, err := w.client.Mapper.RESTMapping(kind.GroupKind(), kind.Version); meta.IsNoMatchError(err) {
			more = more || defined.defines(kind.Group)
			continue
		}
		mark(w, w.kinds.missing, kind)
	}
	for _, resource := range gone {
		if _, err := w.client.Mapper.ResourceFor(resource.WithVersion("")); !meta.IsNoMatchError(err) {
			more = true
			continue
		}
		mark(w, w.kinds.gone, resource)
	}
	return more
}

// mark reports the applications that wait for a kind.
func mark[K comparable](w *watched, waiting map[K]map[string]bool, kind K) {
	w.mu.Lock()
	ids := waiting[kind]
	delete(waiting, kind)
	w.mu.Unlock()
	for id := range ids {
		w.mark(id)
	}
}

// defines reports whether there is a definition of a kind of the group. Their names are "plural.group".
func (i *informer) defines(group string) bool {
	if i == nil {
		return false
	}
	for _, name := range i.shared.GetIndexer().ListKeys() {
		if _, of, _ := strings.Cut(name, "."); of == group {
			return true
		}
	}
	return false
}

// defined takes notice of a definition that has come, changed or gone. The watches of one that has gone end: the API
// would refuse them for ever.
func (w *watched) defined(name string, gone bool) {
	if plural, group, _ := strings.Cut(name, "."); gone {
		w.drop(schema.GroupResource{Group: group, Resource: plural})
	}
	select {
	case w.kinds.changed <- struct{}{}:
	default:
	}
}

// drop ends the watches of a resource.
func (w *watched) drop(resource schema.GroupResource) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if users := w.kinds.users[resource]; users != nil {
		w.kinds.gone[resource] = users
		delete(w.kinds.users, resource)
	}
	for key, i := range w.informers {
		if key.gvr.GroupResource() == resource {
			i.cancel()
			delete(w.informers, key)
		}
	}
	for gvr := range w.confined {
		if gvr.GroupResource() == resource {
			delete(w.confined, gvr)
		}
	}
}
