// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

const (
	// establishTimeout bounds the wait for an API that a new CustomResourceDefinition makes.
	establishTimeout = time.Minute
	// goneTimeout bounds the wait for an object that is deleted to make place; a finalizer may hold it.
	goneTimeout = 2 * time.Minute

	firstServedPause   = 10 * time.Millisecond
	longestServedPause = 500 * time.Millisecond
)

var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// Named selects one object by its name.
func Named(name string) metav1.ListOptions {
	return metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String()}
}

// awaitEstablished waits until the API of a CustomResourceDefinition is served, and forgets what was known of the API.
func (a *Applier) awaitEstablished(ctx context.Context, crd Applied) error {
	ctx, cancel := context.WithTimeoutCause(ctx, establishTimeout, fmt.Errorf("not established within %s", establishTimeout))
	defer cancel()
	err := cluster.Follow(ctx, crd.Resource, Named(crd.Live.GetName()), func(objects []*unstructured.Unstructured) (bool, error) {
		for _, o := range objects {
			result, err := status.Compute(o)
			if err != nil {
				return false, err
			}
			switch result.Status {
			case status.CurrentStatus:
				return true, nil
			case status.FailedStatus:
				return false, fmt.Errorf("the API refused it: %s", result.Message)
			}
		}
		return false, nil
	})
	if err == nil {
		err = a.awaitServed(ctx, crd)
	}
	if err != nil {
		return fmt.Errorf("wait for the API of %s: %w", crd.key().Human(), err)
	}
	return nil
}

// awaitServed waits until the API tells that it serves the kind: that comes a moment after "established", without an event.
func (a *Applier) awaitServed(ctx context.Context, crd Applied) error {
	group, _, _ := unstructured.NestedString(crd.Live.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Live.Object, "spec", "names", "kind")
	pause := firstServedPause
	for {
		a.client.Mapper.Reset()
		_, err := a.client.Mapper.RESTMapping(schema.GroupKind{Group: group, Kind: kind})
		if err == nil || !meta.IsNoMatchError(err) && !cluster.Retryable(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
			pause = min(2*pause, longestServedPause)
		}
	}
}

// awaitGone waits until the object with this UID is no more.
func (a *Applier) awaitGone(ctx context.Context, r dynamic.ResourceInterface, m manifest.Manifest, uid types.UID) error {
	ctx, cancel := context.WithTimeoutCause(ctx, goneTimeout, fmt.Errorf("still there after %s; does a finalizer hold it?", goneTimeout))
	defer cancel()
	err := cluster.Follow(ctx, r, Named(m.GetName()), func(objects []*unstructured.Unstructured) (bool, error) {
		for _, o := range objects {
			if o.GetUID() == uid {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("wait until %s is deleted: %w", m.Key().Human(), err)
	}
	return nil
}
