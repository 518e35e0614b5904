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
		h.options.Logger.Info("piped holds the limits of plugins by measuring them every second: "+
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

// boundInterval is how often a process without a control group is looked at.
const boundInterval = time.Second

// bound ends a process that uses more than it may, where the kernel does not see to that.
func (p *process) bound(l limits) {
	if p.room.group != nil || l.memory == 0 && l.pids == 0 {
		return
	}
	p.watch.running.Go(func() {
		for {
			select {
			case <-p.ending.exited:
				return
			case <-p.clock.After(boundInterval):
			}
			used, ok := measure(int32(p.command.Process.Pid), usage{})
			switch {
			case !ok || p.ending.stopping.Load():
			case l.memory > 0 && used.rss > l.memory:
				p.abort(
					fmt.Sprintf(
						"it used %s of memory, more than its limit of %s", mebibytes(used.rss), mebibytes(l.memory),
					),
				)
				return
			case l.pids > 0 && int(used.threads) > l.pids:
				p.abort(fmt.Sprintf("it had %d threads, more than its limit of %d", used.threads, l.pids))
				return
			}
		}
	})
}

func mebibytes(bytes uint64) string { return fmt.Sprintf("%.0f MiB", float64(bytes)/(1<<20)) }
