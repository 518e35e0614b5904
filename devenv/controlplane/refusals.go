// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/devenv/line"
)

const (
	// refusalInterval is the time in which at most shownRefusals refusals are logged one by one. The others are
	// counted.
	refusalInterval = 10 * time.Second
	shownRefusals   = 5
	// maxRefusalText bounds in bytes what a caller without a key can write into one line.
	maxRefusalText = 256
)

// refusals logs refused calls and connections at a bounded rate: those without a key choose how many there are.
type refusals struct {
	log      *slog.Logger
	interval time.Duration

	mu sync.Mutex
	// timer ends the present interval; nil when there is none.
	timer *time.Timer
	count int
}

// refused logs a refusal; what names the method or the connection that was refused.
func (r *refusals) refused(what string, reason error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer == nil {
		r.timer = time.AfterFunc(r.interval, r.flush)
	}
	if r.count++; r.count <= shownRefusals {
		r.log.Warn("refused a call", "method", line.Cut(what, maxRefusalText), "reason",
			line.Cut(reason.Error(), maxRefusalText))
	}
}

// flush logs how many refusals of the interval were not shown, and ends the interval.
func (r *refusals) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer != nil {
		r.timer.Stop()
	}
	if more := r.count - shownRefusals; more > 0 {
		r.log.Warn(fmt.Sprintf("%d more calls were refused in the last %s", more, r.interval))
	}
	r.timer, r.count = nil, 0
}
