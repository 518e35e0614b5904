// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// ending is the end of a pod: it was deleted, it has failed, or only its sidecars are left.
type ending struct {
	grace time.Duration
	// deadline is when what still runs is killed; zero until the first container was asked to end.
	deadline time.Time
	// retired is closed when no request comes to the pod any more; nil: nothing to wait for.
	retired chan struct{}

	failed          bool
	reason, message string
}

func newEnding(grace time.Duration) *ending { return &ending{grace: grace} }

// graceOf is how long the pod's containers have to end.
func (p *pod) graceOf(of *corev1.Pod) time.Duration {
	seconds := of.Spec.TerminationGracePeriodSeconds
	if of.DeletionGracePeriodSeconds != nil {
		seconds = of.DeletionGracePeriodSeconds
	}
	if seconds == nil {
		return corev1.DefaultTerminationGracePeriodSeconds * time.Second
	}
	return time.Duration(*seconds) * time.Second
}

// end brings the end of the pod a step further.
func (p *pod) end(now time.Time) {
	deleted := p.now.DeletionTimestamp != nil
	if p.ending == nil {
		p.ending = newEnding(p.graceOf(p.now))
		p.retire()
	}
	e := p.ending
	if deleted {
		e.grace = min(e.grace, p.graceOf(p.now)) // a second deletion may leave less time
	}
	if e.retired != nil && !isClosed(e.retired) {
		return
	}
	if e.deadline.IsZero() {
		e.deadline = now.Add(e.grace)
	}
	e.deadline = earlier(e.deadline, now.Add(e.grace))
	// Sidecars serve the others until these have ended, and end in the reverse order of their start.
	if p.stopThose(now, func(c *container) bool { return !c.sidecar() }) {
		return
	}
	for _, c := range slices.Backward(p.all) {
		if c.sidecar() && c.run != nil {
			c.stop(now, e.deadline)
			return
		}
	}
	for _, c := range p.all {
		c.release()
	}
	p.over = true
}

// retire waits in the background until no request comes to the pod any more.
func (p *pod) retire() {
	services := p.manager.config.Services
	if services == nil {
		return
	}
	retired := make(chan struct{})
	p.ending.retired = retired
	go func(ctx context.Context, address string) {
		services.Retire(ctx, address)
		close(retired)
		p.look()
	}(p.manager.ctx, p.address)
}

// stopThose asks containers to end and reports whether one still runs.
func (p *pod) stopThose(now time.Time, those func(*container) bool) (running bool) {
	for _, c := range p.all {
		if those(c) && c.run != nil {
			running = true
			c.stop(now, p.ending.deadline)
		}
	}
	return running
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
