// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"context"
	"sync/atomic"
	"time"
)

// GroupFile is the file in the directory of a cluster's pods that holds the directory of their control group.
const GroupFile = "cgroup"

// watchPeriod is the time between two looks at the memory of containers whose limit no control group enforces.
const watchPeriod = time.Second

// Limit bounds the memory of one process group. A nil Limit is none.
type Limit struct {
	bytes int64
	// group is the control group that enforces the limit; empty: watch does.
	group   string
	version int
	ended   atomic.Bool // by watch
}

// Limits makes limits by the best means of the machine.
type Limits struct {
	group   string // the control group that holds those of containers; empty for none
	version int
	note    string // the file that names group
}

// How names the means: "cgroup v2", "cgroup v1", "checked every second" or "none".
func (l *Limits) How() string {
	switch {
	case l.version == 1:
		return "cgroup v1"
	case l.version == 2:
		return "cgroup v2"
	case watches:
		return "checked every second"
	}
	return "none"
}

// watch ends the process groups that have more memory than they may, until ctx ends.
func (h *Host) watch(ctx context.Context) {
	ticker := time.NewTicker(watchPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for _, p := range h.watched() {
			if memoryOf(p.PID) > p.spec.Limit.bytes {
				p.spec.Limit.ended.Store(true)
				p.Kill()
			}
		}
	}
}

// watched are the processes whose limit no control group enforces.
func (h *Host) watched() (all []*Process) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.running {
		if p.spec.Limit != nil && p.spec.Limit.group == "" {
			all = append(all, p)
		}
	}
	return all
}
