// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"sync"

	"github.com/pipedeck/pipedeck/tui/app"
)

// captions are those of a story, for every UI.
type captions struct {
	mu   sync.Mutex
	last *app.Caption
	all  map[chan app.Caption]bool
}

// ShowCaption shows watchers a caption of a story, also those who come later.
func (s *Server) ShowCaption(c app.Caption) {
	all := &s.captions
	all.mu.Lock()
	defer all.mu.Unlock()
	all.last = &c
	for one := range all.all {
		put(one, c)
	}
}

// follow returns a channel with the last caption that a UI has not taken, until leave is called.
func (c *captions) follow() (followed <-chan app.Caption, leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	own := make(chan app.Caption, 1)
	if c.last != nil {
		own <- *c.last
	}
	if c.all == nil {
		c.all = map[chan app.Caption]bool{}
	}
	c.all[own] = true
	return own, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.all, own)
	}
}

// put replaces what is in a channel for one; nothing else sends to it.
func put[T any](into chan T, value T) {
	select {
	case <-into:
	default:
	}
	into <- value
}
