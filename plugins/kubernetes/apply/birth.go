// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
)

// birth is what the answers to the requests for one object show of its creation. Only the API knows whether an apply
// has created the object: it may have come, from whomever, in the moment before.
type birth struct {
	mu sync.Mutex
	// seen: an answer said that the object was created. lost: an answer is missing that may have said so.
	seen, lost bool
}

// watch returns a context for the requests for one object, and what their answers will show.
func watch(ctx context.Context) (context.Context, *birth) {
	b := &birth{}
	return cluster.WithAnswers(ctx, func(status int) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.seen = b.seen || status == http.StatusCreated
		b.lost = b.lost || status == 0 || status >= http.StatusInternalServerError
	}), b
}

// shows reports whether the requests have created the object. Where an answer is missing, an object counts that no one
// else has ever written to.
func (b *birth) shows(live *unstructured.Unstructured) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seen || b.lost && isNew(live)
}
