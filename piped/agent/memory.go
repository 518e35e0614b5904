// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"time"

	"github.com/pipedeck/pipedeck/system/clock"
)

// idleBeforeReturn is how long no deployment has run before memory is returned: collecting garbage between two commits
// of a busy repository would cost more than it gives.
const idleBeforeReturn = 10 * time.Second

// memory returns memory to the system after deployments. Go's runtime keeps what a burst needed for minutes, and piped
// shares a developer's machine.
type memory struct {
	// idle receives when the last deployment under way has ended.
	idle  <-chan struct{}
	clock clock.Timer
	// give collects garbage and returns the pages that are free, as debug.FreeOSMemory does.
	give func()
}

// run returns memory once after each burst of deployments, until ctx ends.
func (m memory) run(ctx context.Context) {
	var due <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.idle:
			due = m.clock.After(idleBeforeReturn)
		case <-due:
			due = nil
			m.give()
		}
	}
}
