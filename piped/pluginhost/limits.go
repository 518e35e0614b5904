// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/clock"
)

// limits are what one plugin may use; zero is no limit.
type limits struct {
	memory uint64 // bytes
	cpu    float64
	pids   int
}

// limitsOf ignores what the configuration's own check has refused.
func limitsOf(c config.PluginLimits) limits {
	memory, _ := c.MemoryBytes()
	return limits{memory: memory, cpu: c.CPU, pids: c.Pids}
}

func (l limits) any() bool { return l != limits{} }

// goShare is the part of a memory limit that a Go program's collector aims at; the rest is for what it does
// not count.
const goShare = 0.9

// confinement is the room that one process gets.
type confinement struct {
	limits limits
	group  *cgroup // nil where there are no control groups
}

// environment gives Go programs the limits, so that they keep within them rather than run against them.
func (c confinement) environment() []string {
	var env []string
	if c.limits.memory > 0 {
		env = append(env, "GOMEMLIMIT="+strconv.FormatUint(uint64(goShare*float64(c.limits.memory)), 10))
	}
	if c.limits.cpu > 0 {
		env = append(env, "GOMAXPROCS="+strconv.Itoa(int(math.Ceil(c.limits.cpu))))
	}
	return env
}

// confine prepares control groups if a plugin has limits, and says what is not held without them.
func (h *Host) confine(ctx context.Context) {
	if !slices.ContainsFunc(h.plugins, func(p *Plugin) bool { return p.limits.any() }) {
		return
	}
	groups, err := openCgroups()
	if err != nil {
		h.options.Logger.Info("piped holds the limits of plugins by measuring them every second while they work: "+
			"memory and threads of the plugin's own process, while it only gets the limit of cpu as a setting",
			"reason", err)
		return
	}
	h.noteEnded(groups.inherit(ctx))
	for _, p := range h.plugins {
		if p.limits.any() {
			p.launcher.groups = groups
		}
	}
}

const (
	// boundInterval is how often a process without a control group is measured, and restInterval while it rests.
	boundInterval = time.Second
	restInterval  = 5 * time.Second
	// restShare is the part of each limit that a process may use to count as resting, restGrowth the part by which its
	// use may have grown since it was measured before.
	restShare, restGrowth = 0.5, 0.05
)

// bound ends a process that uses more than it may, where the kernel does not see to that.
func (p *process) bound(l limits) {
	if p.room.group != nil || l.memory == 0 && l.pids == 0 {
		return
	}
	p.watch.running.Go(func() {
		before, rests, due := usage{}, false, p.clock.After(boundInterval)
		for {
			select {
			case <-p.ending.exited:
				return
			case <-p.watch.began:
				if rests {
					rests, due = false, p.clock.After(boundInterval)
				}
				continue
			case <-due:
			}
			used, ok := measure(int32(p.command.Process.Pid), usage{})
			if problem := l.exceeded(used); ok && problem != "" && !p.ending.stopping.Load() {
				p.abort(problem)
				return
			}
			if rests = len(p.inputs.running()) == 0 && l.farFrom(before, used); rests {
				due = p.clock.After(clock.Together(p.clock.Now(), restInterval))
			} else {
				due = p.clock.After(boundInterval)
			}
			before = used
		}
	})
}

// exceeded says which limit a process does not keep within; empty for none.
func (l limits) exceeded(used usage) string {
	switch {
	case l.memory > 0 && used.rss > l.memory:
		return fmt.Sprintf("it used %s of memory, more than its limit of %s", mebibytes(used.rss), mebibytes(l.memory))
	case l.pids > 0 && int(used.threads) > l.pids:
		return fmt.Sprintf("it had %d threads, more than its limit of %d", used.threads, l.pids)
	}
	return ""
}

// farFrom reports whether a process is far below the limits and not on its way to them.
func (l limits) farFrom(before, now usage) bool {
	far := func(before, now, limit float64) bool {
		return limit == 0 || now <= restShare*limit && now-before <= restGrowth*limit
	}
	return far(float64(before.rss), float64(now.rss), float64(l.memory)) &&
		far(float64(before.threads), float64(now.threads), float64(l.pids))
}

func mebibytes(bytes uint64) string { return fmt.Sprintf("%.0f MiB", float64(bytes)/(1<<20)) }
