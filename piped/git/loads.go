// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import "sync"

// loads counts how often objects were brought into a mirror, and asks for a clean-up after some.
type loads struct {
	// due has a value when the mirror may need a clean-up.
	due chan struct{}

	mu sync.Mutex
	// every is after how many loads the mirror is inspected, count how many there were since.
	every, count int
}

func newLoads(every int) *loads { return &loads{due: make(chan struct{}, 1), every: every} }

// add counts one.
func (l *loads) add() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count++; l.count >= l.every {
		l.count = 0
		l.request()
	}
}

// request asks for a clean-up now.
func (l *loads) request() {
	select {
	case l.due <- struct{}{}:
	default: // One is requested already.
	}
}
