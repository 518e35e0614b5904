// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"context"
	"sync/atomic"
	"time"
)

// GroupFile is the file in the directory of a cluster's pods that holds the directories of their control groups, one a
// line.
const GroupFile = "cgroup"

// watchPeriod is the time between two looks at the memory of containers of which a control group does not count all.
const watchPeriod = time.Second

// Groups makes the control groups of containers by the best means of the machine. The zero value makes none.
type Groups struct {
	places []place
	// note is the file that names the places.
	note string
	// refused is set once the system has refused to start a program in a group of version 2.
	refused atomic.Bool
}

// place is a control group of the cluster, which holds one group for each run of a container.
type place struct {
	dir     string
	version int
	// memory says that groups here can bound the memory.
	memory bool
	// home is the group of this process in a hierarchy of version 1.
	home string
}

// Group holds the processes of one run of a container, whatever they do to leave it, and bounds their memory. A nil
// Group holds none.
type Group struct {
	groups *Groups
	// bytes bounds the memory; 0: nothing does.
	bytes int64
	parts []place // the group itself in each place
	// joined is set when the first process came into the group after its start: what it has started by then is outside.
	joined bool
	ended  atomic.Bool // by watch, because of the memory
}

// How names the means by which limits of memory hold: "cgroup v2", "cgroup v1", "checked every second" or "none".
func (g *Groups) How() string {
	for _, place := range g.places {
		switch {
		case place.memory && place.version == 1:
			return "cgroup v1"
		case place.memory:
			return "cgroup v2"
		}
	}
	if watches {
		return "checked every second"
	}
	return "none"
}

// watch ends the containers that have more memory than they may where no control group does, until ctx ends.
func (h *Host) watch(ctx context.Context) {
	ticker := time.NewTicker(watchPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for _, p := range h.limited() {
			if p.spec.Group.overrun(p.PID) {
				p.spec.Group.ended.Store(true)
				p.Kill()
			}
		}
	}
}

// limited are the processes whose memory is bounded.
func (h *Host) limited() (all []*Process) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.running {
		if p.spec.Group != nil && p.spec.Group.bytes > 0 {
			all = append(all, p)
		}
	}
	return all
}
