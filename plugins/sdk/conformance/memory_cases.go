// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"strings"
)

func memoryCases() []Case {
	return []Case{{
		ID: "leaks.memory", Capability: Process, run: memoryGrows,
		Title: "memory does not grow with the requests, nor with the stages",
		Why:   "the plugin serves for weeks, and the system ends it, or piped, when the machine has no more memory",
		Next:  "keep nothing of a request or a stage after its answer; bound each cache and each list of the process",
	}, {
		ID: "process.zombies", Capability: Process, run: zombiesLeft, last: true,
		Title: "no ended program of a stage stays as a zombie",
		Why:   "each one holds an entry in the table of processes, until the machine starts none any more",
		Next:  "wait for each program that the plugin starts, also after a cancel and for those in the background",
	}}
}

// The size of the options that are planned to see whether they are kept, how often in a round, and the most rounds. A
// runtime with a garbage collector grows in the first rounds, and not in all of them.
const (
	paddedOptions  = 192 << 10
	paddedRequests = 64
	paddedRounds   = 8
)

func memoryGrows(p *probe) error {
	if !observable {
		return skip("the memory of a process is seen on Linux alone")
	}
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	stage := p.suite.configured(p.suite.stage(x), plannedIndex)
	stage.Config = withKey([]byte(p.suite.with()), "conformancePadding", strings.Repeat("x", paddedOptions))
	const sent = paddedOptions * paddedRequests
	before := 0
	for round := range paddedRounds + 1 {
		for range paddedRequests {
			_, _ = p.plan(x, false, stage) // a refusal will do
			if err := p.ctx.Err(); err != nil {
				return err
			}
		}
		if died := x.alive(); died != nil {
			return died
		}
		after := residentMemory(x.process.mark)
		if round > 0 && after-before < sent/2 {
			return withoutStages(p, fmt.Sprintf("%d MiB after %d requests", after>>20, (round+1)*paddedRequests),
				memoryGrowsWithStages(p))
		}
		before = after
	}
	return fmt.Errorf("it has %d MiB of memory after %d requests of %d KiB, and grew with each %d of them: it keeps "+
		"what it was sent", before>>20, (paddedRounds+1)*paddedRequests, paddedOptions>>10, paddedRequests)
}

// withoutStages says that the stages were not measured, and why.
func withoutStages(p *probe, requests string, err error) error {
	var v *verdict
	if !errors.As(err, &v) {
		return err
	}
	seen := fmt.Sprintf("%s; not measured with stages: %s", requests, v)
	if len(p.suite.options.Settings.DeployTargets) > 0 { // no run of such a plugin measures them
		p.saw("%s", seen)
		return nil
	}
	return skip("%s", seen)
}

// keptOfStage is what a stage may leave, on average of a round, because runtimes grow for other reasons, too.
const keptOfStage = 512 << 10

func memoryGrowsWithStages(p *probe) error {
	x, err := manyStages(p)
	if err != nil {
		return err
	}
	before := 0
	for round := range paddedRounds + 1 {
		if err := stagesOf(p, x, rounds); err != nil {
			return err
		}
		after := residentMemory(x.process.mark)
		if round > 0 && after-before < rounds*keptOfStage {
			p.saw("%d MiB after %d stages", after>>20, (round+1)*rounds)
			return nil
		}
		before = after
	}
	return fmt.Errorf("it has %d MiB of memory after %d stages, and grew by more than %d KiB with each: it keeps what "+
		"it needs for a stage", before>>20, (paddedRounds+1)*rounds, keptOfStage>>10)
}

// zombiesLeft looks at the processes of all stages.
func zombiesLeft(p *probe) error {
	if !observable {
		return skip("the processes of a plugin are seen on Linux alone")
	}
	if _, err := p.settled(); err != nil {
		return err
	}
	var left []string
	for range 20 { // one that is waited for a moment later is none
		left = nil
		for _, x := range p.suite.sessions() {
			left = append(left, zombies(x.process.mark)...)
		}
		if len(left) == 0 {
			return nil
		}
		p.pause(p.suite.bounds.Quiet / 10)
	}
	return fmt.Errorf("%d programs that have ended are still there, because the plugin has not waited for them, such "+
		"as %s", len(left), left[0])
}
