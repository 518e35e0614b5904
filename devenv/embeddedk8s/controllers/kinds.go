// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/utils/clock"
)

const (
	// A kind is served a moment after it was defined, and no event reports when. So it is looked for after pauses from
	// the first to the last, each twice as long as the one before.
	firstKindPause, lastKindPause = time.Second, 16 * time.Second
	// Kinds of a server that the API server only asks (APIService) change without an event. The API server asks no more
	// often either.
	remoteKinds = time.Minute
)

// definitions are the objects that say which kinds there are.
func definitions() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
		{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"},
	}
}

// kinds is what the API server serves, as the controllers know it: asked for again when a definition has changed.
type kinds struct {
	discovery.CachedDiscoveryInterface

	mapper  *restmapper.DeferredDiscoveryRESTMapper
	changed chan struct{} // holds one
	clock   clock.Clock
}

func newKinds(client discovery.DiscoveryInterface) *kinds {
	known := memory.NewMemCacheClient(client)
	return &kinds{
		CachedDiscoveryInterface: known, mapper: restmapper.NewDeferredDiscoveryRESTMapper(known),
		changed: make(chan struct{}, 1), clock: clock.RealClock{},
	}
}

// watch registers for changes of the definitions, before the informers run.
func (k *kinds) watch(all informerfactory.InformerFactory) error {
	notify := func() {
		select {
		case k.changed <- struct{}{}:
		default:
		}
	}
	for _, definition := range definitions() {
		informer, err := all.ForResource(definition)
		if err != nil {
			return fmt.Errorf("watch %s: %w", definition.Resource, err)
		}
		_, err = informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { notify() }, UpdateFunc: func(any, any) { notify() },
			DeleteFunc: func(any) { notify() },
		})
		if err != nil {
			return fmt.Errorf("watch %s: %w", definition.Resource, err)
		}
	}
	return nil
}

// run forgets what is known when it may have changed, until ctx ends.
func (k *kinds) run(ctx context.Context) {
	pause := remoteKinds
	for {
		timer := k.clock.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-k.changed:
			timer.Stop()
			pause = firstKindPause
		case <-timer.C():
			if pause *= 2; pause > lastKindPause {
				pause = remoteKinds
			}
		}
		k.mapper.Reset()
	}
}
