// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"context"
	"errors"
	"net/http"
)

// maxAttempts is how often a request that may be repeated is brought to a pod. A request that crashes its pod crashes
// no more pods than that.
const maxAttempts = 4

// retrying repeats requests whose connection broke before the answer began, if that is harmless. No attempt goes to a
// pod that has broken an earlier one, as long as another pod is ready: turns alone would bring some requests of several
// clients to the same pod each time.
type retrying struct{ next http.RoundTripper }

func (t retrying) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.WithContext(context.WithValue(r.Context(), triedKey{}, newTried()))
	for attempt := 1; ; attempt++ {
		response, err := t.next.RoundTrip(r)
		if err == nil || attempt == maxAttempts || r.Context().Err() != nil || errors.Is(err, errNoPod) ||
			!repeatable(r) {
			return response, err
		}
	}
}

type triedKey struct{}

// triedBy returns the pods that the request of a context has tried.
func triedBy(ctx context.Context) *tried {
	if t, ok := ctx.Value(triedKey{}).(*tried); ok {
		return t
	}
	return newTried()
}

// repeatable reports whether a request changes nothing and can be sent again.
func repeatable(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return r.Body == nil || r.Body == http.NoBody
	}
	return false
}
