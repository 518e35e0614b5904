// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"sync"
)

// maxPerHost bounds the connections to one host: sshd refuses some of those that log in at the same time from
// the eleventh on (its MaxStartups).
const maxPerHost = 8

// Hosts bounds how many repositories of one host are asked at a time. A host that does not answer so holds up
// its own repositories alone. The zero value is ready.
type Hosts struct {
	mu     sync.Mutex
	places map[string]*places
}

// places are those of one host, with the number of those who are in or wait.
type places struct {
	taken chan struct{}
	users int
}

// enter waits for a place; leave gives it back. A nil *Hosts has room for all.
func (h *Hosts) enter(ctx context.Context, host string) (leave func(), err error) {
	if h == nil || host == "" {
		return func() {}, nil
	}
	h.mu.Lock()
	if h.places == nil {
		h.places = map[string]*places{}
	}
	p := h.places[host]
	if p == nil {
		p = &places{taken: make(chan struct{}, maxPerHost)}
		h.places[host] = p
	}
	p.users++
	h.mu.Unlock()
	gone := func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if p.users--; p.users == 0 {
			delete(h.places, host)
		}
	}
	select {
	case p.taken <- struct{}{}:
		return func() { <-p.taken; gone() }, nil
	case <-ctx.Done():
		gone()
		return nil, ctx.Err()
	}
}
