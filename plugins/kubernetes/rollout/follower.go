// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
)

// following is a stream of the states of selected objects. The zero value follows nothing.
type following struct {
	// states is closed when the stream has ended; nil when there is none.
	states <-chan []*unstructured.Unstructured
	// end is why the stream has ended. It may be read once states is closed.
	end error
}

// follow sends every state of the selected objects until ctx ends, or until they cannot be watched. The caller ends ctx
// and calls wait.
func follow(ctx context.Context, r cluster.Watchable, opts metav1.ListOptions) *following {
	states := make(chan []*unstructured.Unstructured)
	f := &following{states: states}
	go func() {
		defer close(states)
		f.end = cluster.Follow(ctx, r, opts, func(objects []*unstructured.Unstructured) (bool, error) {
			select {
			case states <- objects:
				return false, nil
			case <-ctx.Done():
				return true, context.Cause(ctx)
			}
		})
	}()
	return f
}

// wait returns when the stream has ended.
func (f *following) wait() {
	if f.states == nil {
		return
	}
	for range f.states {
	}
}
