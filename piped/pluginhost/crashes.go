// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"slices"
	"sync"
	"time"
)

const (
	crashWindow = time.Minute
	crashLimit  = 5              // within crashWindow; then only a user or a changed binary starts the plugin again
	blamedLimit = 4 * crashLimit // the same for ends during calls, which are counted against their inputs first
)

// crashes counts the ends of a plugin's processes within crashWindow. The zero value is ready.
type crashes struct {
	mu sync.Mutex
	// ends are at most crashLimit; blamed, at most blamedLimit, are counted against the input of a call.
	ends, blamed []time.Time
}

// count adds an end and returns how many there were lately, and whether that is too many.
func (c *crashes) count(blamed bool) (count int, quarantined bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	old := func(t time.Time) bool { return now.Sub(t) > crashWindow }
	if blamed {
		c.blamed = slices.DeleteFunc(append(c.blamed, now), old)
		return len(c.blamed), len(c.blamed) >= blamedLimit
	}
	c.ends = slices.DeleteFunc(append(c.ends, now), old)
	return len(c.ends), len(c.ends) >= crashLimit
}

func (c *crashes) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ends, c.blamed = nil, nil
}
