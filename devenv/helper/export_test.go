// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import "time"

// SetIdleTime is for tests, before the first call.
func (h *Helper) SetIdleTime(d time.Duration) { h.idleTime = d }

// PID is the process id of the program; 0 when none runs.
func (h *Helper) PID() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.running == nil {
		return 0
	}
	return h.running.process.PID()
}
