// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// agreements are the live objects that were found to be as their manifests. Few objects of an application change at a
// time, so that a look compares only these. There is at most one entry for a manifest. The nil value remembers nothing.
type agreements struct {
	mu sync.Mutex
	of map[manifest.Key]revision
}

// revision is one state of a live object.
type revision struct {
	uid     types.UID
	version string
}

func newAgreements() *agreements { return &agreements{of: map[manifest.Key]revision{}} }

// holds reports whether this state of the object was found to be as the manifest.
func (a *agreements) holds(key manifest.Key, live *unstructured.Unstructured) bool {
	if a == nil || live == nil {
		return false
	}
	a.mu.Lock()
	known, found := a.of[key]
	a.mu.Unlock()
	return found && known == revisionOf(live)
}

// add remembers that an object is as the manifest; not one without a resource version, which every change would share.
func (a *agreements) add(key manifest.Key, live *unstructured.Unstructured) {
	now := revisionOf(live)
	if a == nil || now.version == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.of[key] = now
}

func revisionOf(live *unstructured.Unstructured) revision {
	return revision{uid: live.GetUID(), version: live.GetResourceVersion()}
}
