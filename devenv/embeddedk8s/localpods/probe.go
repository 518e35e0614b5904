// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	// probesAtOnce bounds the probes that run at the same time, in all pods.
	probesAtOnce = 16
	// A probe that has not passed yet is repeated soon, ever more seldom up to its period: a program starts much faster
	// than the seconds in which periods are counted. These tries do not count as failures.
	firstQuick = 30 * time.Millisecond
	// A pause that grows does so at most that often, and up to slowest.
	maxSlower = 5
	slowest   = 30 * time.Second
)

// prober runs probes. Between two runs of a probe there is only a timer.
type prober struct {
	slots  chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
}

func newProber() *prober {
	ctx, cancel := context.WithCancel(context.Background())
	return &prober{slots: make(chan struct{}, probesAtOnce), ctx: ctx, cancel: cancel}
}

func (r *prober) close() { r.cancel() }

// probeResult is what a probe has found.
type probeResult int

const (
	probeUnknown probeResult = iota
	probePassed
	probeFailed
)

// probe repeats a check of one run of a container. Its methods may be called from any goroutine.
type probe struct {
	prober *prober
	spec   *corev1.Probe
	// check returns an empty text when the container does well, else the problem.
	check func(ctx context.Context) (problem string)
	// changed is called when the result has changed, or the problem; failed for each failure that counts.
	changed func()
	failed  func(problem string)
	// slower is set when the pause doubles with each failure.
	slower bool

	mu                  sync.Mutex
	timer               *time.Timer
	ended               bool
	now                 probeResult
	passes, failures    int
	problem             string // of the last check that counted; empty when it passed
	quick, quickElapsed time.Duration
}

// startProbe starts a probe of the container's run. A good start is what the result is before the first check.
func (c *container) startProbe(spec *corev1.Probe, kind string, good bool) *probe {
	p, of := c.pod, c.pod.now
	b := &probe{
		prober: p.manager.probes, spec: spec, check: c.check(spec), changed: p.look, quick: firstQuick,
		failed: func(problem string) {
			p.manager.config.Event(of, corev1.EventTypeWarning, "Unhealthy", failureOf(kind, problem))
		},
	}
	if good {
		b.now = probePassed
	}
	b.begin(time.Duration(spec.InitialDelaySeconds) * time.Second)
	return b
}

func (b *probe) begin(delay time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.timer = time.AfterFunc(delay, b.once)
}

func (b *probe) result() probeResult {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

// trouble is the problem that the last check has found; empty for none.
func (b *probe) trouble() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.problem
}

// failure is the problem with the kind of the probe; empty for none.
func (b *probe) failure(kind string) string {
	if problem := b.trouble(); problem != "" {
		return failureOf(kind, problem)
	}
	return ""
}

func failureOf(kind, problem string) string { return fmt.Sprintf("%s probe failed: %s", kind, problem) }

// end ends the probe. A check that runs is not waited for; its result is dropped.
func (b *probe) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	b.timer.Stop()
}

// once runs the check and sets the timer for the next one.
func (b *probe) once() {
	select {
	case b.prober.slots <- struct{}{}:
	case <-b.prober.ctx.Done():
		return
	}
	ctx, cancel := context.WithTimeout(b.prober.ctx, b.timeout())
	problem := b.check(ctx)
	cancel()
	<-b.prober.slots

	b.mu.Lock()
	if b.ended {
		b.mu.Unlock()
		return
	}
	before, said := b.now, b.problem
	counted := b.record(problem == "")
	if counted {
		b.problem = problem
	}
	news := b.now != before || b.problem != said && b.now != probePassed
	b.timer.Reset(b.pause(counted))
	b.mu.Unlock()
	if counted && problem != "" {
		b.failed(problem)
	}
	if news {
		b.changed()
	}
}

// record takes note of a check and reports whether it counts.
func (b *probe) record(passed bool) (counted bool) {
	if passed {
		b.passes, b.failures = b.passes+1, 0
		if b.passes >= int(max(b.spec.SuccessThreshold, 1)) {
			b.now = probePassed
		}
		return true
	}
	if b.passes == 0 && b.failures == 0 && b.quickElapsed < b.period() {
		return false
	}
	b.passes, b.failures = 0, b.failures+1
	if b.failures >= int(max(b.spec.FailureThreshold, 1)) {
		b.now = probeFailed
	}
	return true
}

// pause is the time until the next check.
func (b *probe) pause(counted bool) time.Duration {
	if counted && b.slower {
		return min(b.period()<<min(b.failures, maxSlower), slowest)
	}
	if counted {
		return b.period()
	}
	quick := min(b.quick, b.period()-b.quickElapsed)
	b.quickElapsed += quick
	b.quick += b.quick / 2
	return quick
}

func (b *probe) period() time.Duration {
	return time.Duration(max(b.spec.PeriodSeconds, 1)) * time.Second
}
func (b *probe) timeout() time.Duration {
	return time.Duration(max(b.spec.TimeoutSeconds, 1)) * time.Second
}
