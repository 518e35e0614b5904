// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"slices"
	"time"
)

// shortestInterval is the least time that a CPU figure is taken over: the system counts in hundredths of a
// second.
const shortestInterval = time.Second

// usage is what a process took at the last sampling.
type usage struct {
	rss uint64  // bytes
	cpu float64 // hundredths of one core, over the time since the sample before
	// files are open descriptors. Both are 0 where the system does not report them.
	files, threads uint32

	pid     int32
	seconds float64 // CPU time in all
	at      time.Time
}

// Sample measures memory and CPU of all plugin processes for the next Status. It costs a few file reads
// per plugin, so it is done only while it is reported.
func (h *Host) Sample() {
	for _, p := range h.plugins {
		p.condition.sample()
	}
}

// working reports whether a call to any plugin is under way, but for questions for changes.
func (h *Host) working() bool {
	return slices.ContainsFunc(h.plugins, func(p *Plugin) bool { return p.condition.working() })
}

func (c *condition) working() bool {
	c.mu.Lock()
	proc := c.process
	c.mu.Unlock()
	return proc != nil && len(proc.inputs.running()) > 0
}

// measure measures a process; false when it is gone.
func measure(pid int32, before usage) (usage, bool) {
	now, ok := look(pid)
	if !ok || before.pid != pid {
		return now, ok
	}
	elapsed := now.at.Sub(before.at)
	now.cpu = max(0, 100*(now.seconds-before.seconds)/elapsed.Seconds())
	return now, true
}
