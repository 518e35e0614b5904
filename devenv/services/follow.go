// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/pipedeck/pipedeck/devenv/cluster/kubeapi"
)

const (
	slicesPath = "/apis/discovery.k8s.io/v1/endpointslices"
	// labelServiceName is on the EndpointSlices of a Service.
	labelServiceName = "kubernetes.io/service-name"
)

// slice is what is read of an EndpointSlice.
type slice struct {
	Meta      `json:"metadata"`
	Endpoints []struct {
		Conditions struct {
			Ready *bool `json:"ready"` // nil is true, as Kubernetes defines it
		} `json:"conditions"`
	} `json:"endpoints"`
}

func (s *slice) isReady() bool {
	for _, endpoint := range s.Endpoints {
		if ready := endpoint.Conditions.Ready; ready == nil || *ready {
			return true
		}
	}
	return false
}

// Follow calls changed with all Services of a cluster that have addresses on this machine, and again with all of them
// after each change, from one goroutine at a time. It returns when ctx ends, or with an error when the cluster does not
// answer or ends its answer, as it does from time to time.
func Follow(ctx context.Context, api *kubeapi.Client, changed func(Published)) error {
	f := &follower{services: map[string]*Service{}, slices: map[string]*slice{}, changed: changed}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return follow(ctx, api, f, slicesPath, f.slices, &f.hasSlices) })
	group.Go(func() error { return follow(ctx, api, f, servicesPath, f.services, &f.hasServices) })
	return group.Wait()
}

// follower knows the objects, by namespace and name.
type follower struct {
	mu                     sync.Mutex
	services               map[string]*Service
	slices                 map[string]*slice
	hasServices, hasSlices bool
	changed                func(Published)
}

// named are the kinds that are followed.
type named interface{ key() string }

func (m *Meta) key() string { return m.Namespace + "/" + m.Name }

// follow keeps the objects of one kind.
func follow[T any, P interface {
	*T
	named
}](ctx context.Context, api *kubeapi.Client, f *follower, path string, known map[string]P, has *bool) error {
	var list struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Items []P `json:"items"`
	}
	if err := api.Get(ctx, path, nil, &list); err != nil {
		return err
	}
	f.change(func() {
		*has = true
		for _, object := range list.Items {
			known[object.key()] = object
		}
	})
	_, err := api.Watch(ctx, path, url.Values{"resourceVersion": {list.Metadata.ResourceVersion}},
		func(event kubeapi.Event) (bool, error) {
			object := P(new(T))
			if err := json.Unmarshal(event.Object, object); err != nil || event.Type == kubeapi.Failed {
				return false, fmt.Errorf("follow %s: %s: %.200s", path, event.Type, event.Object)
			}
			f.change(func() {
				if known[object.key()] = object; event.Type == kubeapi.Deleted {
					delete(known, object.key())
				}
			})
			return false, nil
		})
	return cmp.Or(err, ctx.Err(), errEnded)
}

// errEnded is the usual end of a watch.
var errEnded = fmt.Errorf("the cluster has ended its answer")

// change changes what is known and reports it once all kinds are.
func (f *follower) change(apply func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	apply()
	if f.hasServices && f.hasSlices {
		f.changed(f.published())
	}
}

// published is what is reported. The caller holds f.mu.
func (f *follower) published() Published {
	ready := map[string]bool{}
	for _, s := range f.slices {
		if s.isReady() {
			ready[s.Namespace+"/"+s.Labels[labelServiceName]] = true
		}
	}
	p := Published{ready: ready}
	for _, key := range slices.Sorted(maps.Keys(f.services)) {
		if s := f.services[key]; len(s.addresses()) > 0 && !s.IsSimulated() {
			p.services = append(p.services, s)
		}
	}
	return p
}
