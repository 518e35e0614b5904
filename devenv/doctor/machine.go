// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/auto"
)

const (
	mib = 1 << 20
	gib = 1 << 30

	// What piped's mirrors, plugins and logs need, and with how much more they are comfortable.
	stateDiskLeast, stateDiskEnough = 200 * mib, 1 * gib
	// What the embedded Kubernetes needs when Go compiles it for the first time.
	compileDisk = 4 * gib
	// A node takes about 1 GiB next to its image, which takes as much.
	nodeDiskLeast, nodeDiskEnough = 2 * gib, 5 * gib
	// What the programs of an environment need without its clusters.
	memoryLeast = 256 * mib
	// What each cluster needs, its applications not counted.
	nodeMemory, embeddedMemory = 1 * gib, 512 * mib
)

func (d *Doctor) stateDisk(ctx context.Context) Check {
	free, err := d.Free(ctx, d.StateDir)
	if err != nil {
		return Check{State: Warn, Found: err.Error(), Why: "environments live in " + d.StateDir,
			Fix: "choose another place with --state-dir"}
	}
	enough := uint64(stateDiskEnough)
	if d.asks(cluster.Embedded, auto.Kind) {
		enough = compileDisk
	}
	c := ok("%s free in %s", size(free), d.StateDir)
	switch {
	case free < stateDiskLeast:
		c.State, c.Why, c.Fix = Fail, fmt.Sprintf("an environment writes up to %s", size(stateDiskLeast)),
			"free some space, or choose another place with --state-dir"
	case free < enough:
		c.State, c.Why, c.Fix = Warn, fmt.Sprintf("the first start may need %s", size(enough)),
			"free some space: go clean -cache"
	}
	return c
}

// engineDisk looks where the engine keeps its images, if that is on this machine.
func (d *Doctor) engineDisk(ctx context.Context) Check {
	e, err := d.Engine(ctx)
	if err != nil || e.Root == "" {
		return Check{}
	}
	free, err := d.Free(ctx, e.Root)
	if err != nil || engineElsewhere {
		return Check{}
	}
	clusters := uint64(max(1, d.kindAsked()))
	c := ok("%s free in %s", size(free), e.Root)
	switch fix := e.Name + " system prune"; {
	case free < nodeDiskLeast*clusters:
		c.State, c.Why, c.Fix = Fail, fmt.Sprintf("%d kind cluster(s) and the node image need %s", clusters,
			size(nodeDiskLeast*clusters)), fix
		if !d.asks(cluster.InDocker) {
			c.State = Warn
		}
	case free < nodeDiskEnough:
		c.State, c.Why, c.Fix = Warn, "the kubelet evicts pods from a full disk", fix
	}
	return c
}

func (d *Doctor) memory(ctx context.Context) Check {
	available, err := d.Memory(ctx)
	if err != nil {
		return Check{State: Warn, Found: err.Error(), Why: "a cluster may need more than there is",
			Fix: "pipedeck doctor"}
	}
	where := "available"
	if d.asks(cluster.InDocker, auto.Kind) && engineElsewhere {
		if e, err := d.Engine(ctx); err == nil && e.Memory > 0 {
			available, where = e.Memory, "in the machine of "+e.Name
		}
	}
	needed := uint64(memoryLeast)
	for _, k := range d.Clusters {
		switch k {
		case cluster.InDocker, auto.Kind:
			needed += nodeMemory
		case cluster.Embedded:
			needed += embeddedMemory
		}
	}
	c := ok("%s %s", size(available), where)
	switch why := fmt.Sprintf("%d cluster(s) and piped need about %s", len(d.Clusters), size(needed)); {
	case available < memoryLeast:
		c.State, c.Why, c.Fix = Fail, why, moreMemory
	case available < needed:
		c.State, c.Why, c.Fix = Warn, why, moreMemory
	}
	return c
}

func (d *Doctor) ports(context.Context) Check {
	if err := d.Listen(); err != nil {
		return Check{State: Fail, Found: err.Error(),
			Why: "the control plane, piped and the plugins talk over 127.0.0.1", Fix: bringUpLoopback}
	}
	return ok("127.0.0.1 can be listened on")
}

// size is a number of bytes as users read it.
func size(bytes uint64) string {
	if bytes < gib {
		return fmt.Sprintf("%d MiB", bytes/mib)
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/gib)
}
