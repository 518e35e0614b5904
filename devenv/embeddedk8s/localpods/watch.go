// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"fmt"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// hookGrace is how long a container has at least to end after its preStop hook.
const hookGrace = 2 * time.Second

// stop is the end of a run that was asked for.
type stop struct {
	deadline time.Time // then it is killed
	hook     *hook     // preStop; nil: none, or over
	signaled bool
}

// begin starts what belongs to a new run: its hook and its probes.
func (c *container) begin(now time.Time) {
	if c.spec.Lifecycle != nil && c.spec.Lifecycle.PostStart != nil {
		c.run.hook = c.startHook(c.spec.Lifecycle.PostStart, time.Time{})
	}
	c.watch(now)
}

// watch brings a run a step further: the hook, then the startup probe, then the others.
func (c *container) watch(now time.Time) {
	run := c.run
	if run.stop != nil {
		c.stop(now, run.stop.deadline)
		return
	}
	if run.hook != nil {
		err, over := run.hook.result()
		if !over {
			return
		}
		run.hook = nil
		if err != nil {
			c.giveUp(now, "FailedPostStartHook", fmt.Sprintf("PostStartHook failed: %v", err), nil)
			return
		}
	}
	if !run.started && !c.watchStartup(now) {
		return
	}
	c.watchLife(now)
}

// watchStartup reports whether the container has started.
func (c *container) watchStartup(now time.Time) bool {
	run := c.run
	if c.spec.StartupProbe != nil {
		if run.startup == nil {
			run.startup = c.startProbe(c.spec.StartupProbe, "Startup", false)
		}
		switch run.startup.result() {
		case probeUnknown:
			return false
		case probeFailed:
			c.giveUp(now, "Killing", fmt.Sprintf("Container %s failed startup probe, will be restarted", c.spec.Name),
				c.spec.StartupProbe)
			return false
		}
		run.startup.end()
	}
	run.started = true
	run.listening = startListening(c)
	if c.spec.LivenessProbe != nil {
		run.liveness = c.startProbe(c.spec.LivenessProbe, "Liveness", true)
	}
	if c.spec.ReadinessProbe != nil {
		run.readiness = c.startProbe(c.spec.ReadinessProbe, "Readiness", false)
	}
	return true
}

func (c *container) watchLife(now time.Time) {
	run := c.run
	c.watchListening()
	if run.readiness != nil {
		run.ready = run.readiness.result() == probePassed
	} else {
		run.ready = run.isReached()
	}
	if run.liveness != nil && run.liveness.result() == probeFailed {
		c.giveUp(now, "Killing", fmt.Sprintf("Container %s failed liveness probe, will be restarted", c.spec.Name),
			c.spec.LivenessProbe)
	}
}

// giveUp ends the run because it does not do well; what comes then is up to the restart policy.
func (c *container) giveUp(now time.Time, reason, message string, probe *corev1.Probe) {
	c.pod.event(corev1.EventTypeWarning, reason, message)
	c.run.problem, c.run.ready = message, false
	grace := c.pod.graceOf(c.pod.now)
	if probe != nil && probe.TerminationGracePeriodSeconds != nil {
		grace = time.Duration(*probe.TerminationGracePeriodSeconds) * time.Second
	}
	c.stop(now, now.Add(grace))
}

// stop asks the run to end, and kills it at the deadline: first its preStop hook runs, then it gets the signal.
func (c *container) stop(now, deadline time.Time) {
	run := c.run
	if run.stop == nil {
		run.stop = &stop{deadline: deadline}
		run.ready = false
		run.endProbes()
		if run.problem == "" {
			c.pod.event(corev1.EventTypeNormal, "Killing", "Stopping container "+c.spec.Name)
		}
		if c.spec.Lifecycle != nil && c.spec.Lifecycle.PreStop != nil && now.Before(deadline) {
			run.stop.hook = c.startHook(c.spec.Lifecycle.PreStop, deadline)
		}
	}
	s := run.stop
	s.deadline = earlier(s.deadline, deadline)
	if s.hook != nil {
		err, over := s.hook.result()
		if !over && now.Before(s.deadline) {
			c.pod.again(s.deadline)
			return
		}
		s.hook.cancel()
		s.hook = nil
		if err != nil {
			c.pod.event(corev1.EventTypeWarning, "FailedPreStopHook", fmt.Sprintf("PreStopHook failed: %v", err))
		}
		if least := now.Add(hookGrace); s.deadline.Before(least) {
			s.deadline = least
		}
	}
	if !s.signaled {
		s.signaled = true
		run.process.Terminate(syscall.SIGTERM)
	}
	if !now.Before(s.deadline) {
		run.process.Kill()
		return
	}
	c.pod.again(s.deadline)
}

func (r *run) endProbes() {
	for _, probe := range []*probe{r.startup, r.liveness, r.readiness} {
		if probe != nil {
			probe.end()
		}
	}
	if r.listening != nil {
		r.listening.end()
	}
}
