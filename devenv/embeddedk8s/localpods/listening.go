// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// listening checks that a run of a container listens on the ports that the container declares, until it does.
type listening struct {
	*probe

	mu   sync.Mutex
	last *unreached // what the last check has found
}

// startListening starts the check of a container's run; nil when there is nothing to check, or no way to.
func startListening(c *container) *listening {
	p := c.pod
	member := p.places.memberOf(c.spec.Name)
	if member == nil || len(member.declared) == 0 || !p.manager.listeners.Shown() {
		return nil
	}
	l := &listening{}
	last := "" // an Event for each new problem, not for each check
	of := p.now
	l.probe = &probe{
		prober: p.manager.probes, quick: firstQuick, slower: true, changed: p.look,
		spec:  &corev1.Probe{PeriodSeconds: int32(listenGrace / time.Second), FailureThreshold: 1},
		check: func(context.Context) string { return l.check(p.places, member.declared) },
		failed: func(problem string) {
			if problem != last {
				last = problem
				p.manager.config.Event(of, corev1.EventTypeWarning, l.found().reason(), problem)
			}
		},
	}
	l.begin(0)
	return l
}

// check looks for the first port at which the container is not reached; one that another program has comes first.
func (l *listening) check(places *places, ports []int32) string {
	var first *unreached
	for _, port := range ports {
		var found *unreached
		if _, err := places.find(port); errors.As(err, &found) && (first == nil || found.taken && !first.taken) {
			first = found
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last = first; first == nil {
		return ""
	}
	return first.Error()
}

// found is what the last check has found; nil for nothing.
func (l *listening) found() *unreached {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// watchListening takes note of a check that has passed, and reports where ports are that were expected elsewhere.
func (c *container) watchListening() {
	run := c.run
	if run.listening == nil || run.listens || run.listening.result() != probePassed {
		return
	}
	run.listens = true
	run.listening.end()
	for _, port := range c.pod.places.memberOf(c.spec.Name).declared {
		if expected, number, moved := c.pod.places.movedTo(port); moved {
			c.pod.event(corev1.EventTypeNormal, "OtherPort", fmt.Sprintf(
				"container %s listens on port %d, not on %d (PORT): its port %d is reached there",
				c.spec.Name, number, expected, port))
		}
	}
}

// trouble is why a run is not reached at a port that its container declares; nil when it is, or may be soon, and for no
// run.
func (r *run) trouble() *unreached {
	if r == nil || r.listening == nil || r.listening.result() != probeFailed {
		return nil
	}
	return r.listening.found()
}

// isReached reports whether a run that nothing else probes counts as ready: it listens, or it had its time to begin and
// no other program has its port.
func (r *run) isReached() bool {
	if r.listening == nil {
		return true
	}
	found := r.listening.found()
	switch r.listening.result() {
	case probePassed:
		return true
	case probeFailed:
		return found == nil || !found.taken
	}
	return false
}
