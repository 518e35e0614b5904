// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdktest

import "sync"

// calls are the errors to answer calls with.
type calls struct {
	mu     sync.Mutex
	errors map[string]error
}

func (c *calls) fail(call string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.errors == nil {
		c.errors = map[string]error{}
	}
	c.errors[call] = err
}

// made returns the error of a call; nil for most.
func (c *calls) made(call string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.errors[call]
}
