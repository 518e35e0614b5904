// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// reuseCases are about state that a stage takes over from an earlier one.
func reuseCases() []Case {
	return []Case{{
		ID: "options.fresh", Capability: Execution, run: freshOptions,
		Title: "a stage has its own options, not those of an earlier stage of the application",
		Why:   "a change of the options has no effect until the plugin is started again",
		Next:  "decode stage_config of each request, and keep nothing of it by application or by name",
	}, {
		ID: "again.pipeline", Capability: Execution, run: twiceInPipeline,
		Title: "a stage that is twice in a pipeline does its work both times",
		Why:   "the second one finds what the first has stored for the deployment, and takes its own work for done",
		Next:  "store what an attempt needs as stage metadata; metadata of the deployment belongs to all stages",
	}}
}

// twiceInPipeline runs two stages of one deployment.
func twiceInPipeline(p *probe) error {
	first, err := p.settled()
	if err != nil {
		return err
	}
	if len(p.suite.options.Settings.DeployTargets) > 0 {
		return skip("what the second stage has to do depends on what the first has deployed")
	}
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	same := order{edit: func(r *deployment.ExecuteStageRequest) { r.Input.Deployment.Id = "deployment-of-two" }}
	var did [2]progress
	for i := range did {
		e, err := x.execute(p, same)
		if err != nil {
			return err
		}
		if e.kind() != first.kind() {
			return fmt.Errorf("stage %d of two in one deployment ended in %s, and one alone in %s: %s", i+1, e.kind(),
				first.kind(), e.how())
		}
		did[i] = progressOf(x.rec.of(e.id))
	}
	const worthComparing = 3
	if did[0].blocks >= worthComparing && did[1].blocks*2 <= did[0].blocks {
		return note("of two equal stages of one deployment, the log of the first has %d entries and that of the "+
			"second %d: the second takes the work of the first for its own, unless it has "+
			"found that there is nothing to do",
			did[0].blocks, did[1].blocks)
	}
	p.saw("%d and %d entries of the log", did[0].blocks, did[1].blocks)
	return nil
}
