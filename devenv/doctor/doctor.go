// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/auto"
	"github.com/pipedeck/pipedeck/devenv/cluster/embedded"
	"github.com/pipedeck/pipedeck/devenv/cluster/engine"
)

// checkWithin bounds one check. It is longer than a container engine may take to answer.
const checkWithin = 8 * time.Second

// State is how a check ended.
type State string

// The states of a check.
const (
	OK State = "ok"
	// Warn is something that may go wrong later.
	Warn State = "warn"
	// Fail is something that an environment cannot start with.
	Fail State = "fail"
)

// Check is one line of the report.
type Check struct {
	Name  string
	State State
	// Found is what there is.
	Found string
	// Why says why it matters; empty when the state is OK.
	Why string
	// Fix is the command, or the short instruction, that fixes it; empty when the state is OK.
	Fix string
}

// String is the check in one line.
func (c Check) String() string {
	if c.State == OK {
		return c.Name + ": " + c.Found
	}
	return c.Name + ": " + c.Found + ": " + c.Why
}

// Doctor knows what an environment would consist of.
type Doctor struct {
	System
	// StateDir is the directory that holds the environments; it need not exist.
	StateDir string
	// Clusters are the kinds that are asked for, one for each cluster.
	Clusters []cluster.Kind
	// NodeImage is the node image that the user names, KindConfig their configuration of kind.
	NodeImage, KindConfig string
	// Engine finds the container engine.
	Engine func(context.Context) (*engine.Engine, error)
	// Name is that of the environment that would start.
	Name string
	// Programs returns where piped and the plugins are, or which one is missing; nil leaves the check out.
	Programs func() (found string, err error)
	// Embedded looks for the program of the embedded Kubernetes; nil leaves the check out.
	Embedded func() (*embedded.Found, error)
}

// examination is one check before it has run. A run without anything to say returns no state.
type examination struct {
	name string
	run  func(context.Context) Check
	// before says that it is also made before an environment starts.
	before bool
}

// Examine makes all checks and returns them in a fixed order.
func (d *Doctor) Examine(ctx context.Context) []Check {
	return examine(ctx, d.examinations())
}

// Preflight makes the checks of what the asked for clusters need, and returns those that are not
// OK. It is bounded by the container engine's patience; without kind it takes milliseconds.
func (d *Doctor) Preflight(ctx context.Context) []Check {
	before := slices.DeleteFunc(d.examinations(), func(e examination) bool { return !e.before })
	return slices.DeleteFunc(examine(ctx, before), func(c Check) bool { return c.State == OK })
}

func (d *Doctor) examinations() []examination {
	kind := d.asks(cluster.InDocker, auto.Kind)
	all := slices.Concat(
		[]examination{
			{"container engine", d.containerEngine, kind},
			{"cgroups", d.cgroups, kind},
		},
		d.platform(),
		[]examination{
			{"programs", d.programs, false},
			{"embedded Kubernetes", d.embedded, false},
			{"embedded cluster", d.embeddedCluster, false},
			{"state directory", d.stateDirectory, true},
			{"disk", d.stateDisk, true},
			{"engine's disk", d.engineDisk, kind},
			{"memory", d.memory, true},
			{"ports", d.ports, true},
			{"proxy", d.proxy, true},
			{"git", d.git, false},
			{"go", d.goToolchain, false},
			{"environments", d.environments, false},
			{"kind clusters", d.kindClusters, false},
			{"terminal", d.terminal, false},
		},
	)
	if !kind { // No other kind of cluster runs in containers.
		all = slices.DeleteFunc(all, func(e examination) bool {
			return slices.Contains([]string{"container engine", "cgroups", "engine's disk"}, e.name)
		})
	}
	if !d.asks(cluster.Embedded, auto.Kind) {
		all = slices.DeleteFunc(all, func(e examination) bool { return strings.HasPrefix(e.name, "embedded ") })
	}
	return all
}

// asks reports whether one of the kinds is among the asked for.
func (d *Doctor) asks(kinds ...cluster.Kind) bool {
	return slices.ContainsFunc(d.Clusters, func(k cluster.Kind) bool { return slices.Contains(kinds, k) })
}

func examine(ctx context.Context, examinations []examination) []Check {
	ctx, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	checks := make([]Check, len(examinations))
	var running sync.WaitGroup
	for i, e := range examinations {
		running.Go(func() {
			c := e.run(ctx)
			if ctx.Err() != nil && c.State != OK {
				c = Check{State: Warn, Found: fmt.Sprintf("no answer within %s", checkWithin),
					Why: "its result is not known", Fix: "pipedeck doctor"}
			}
			c.Name = e.name
			checks[i] = c
		})
	}
	running.Wait()
	return slices.DeleteFunc(checks, func(c Check) bool { return c.State == "" })
}

// ok is a check without a finding.
func ok(format string, values ...any) Check {
	return Check{State: OK, Found: fmt.Sprintf(format, values...)}
}
