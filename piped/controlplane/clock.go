// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import "time"

// Clock tells when a time has passed.
type Clock interface {
	// After sends once, when d has passed.
	After(d time.Duration) <-chan time.Time
}

// SystemClock is the system's clock.
type SystemClock struct{}

// After is time.After.
func (SystemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }
