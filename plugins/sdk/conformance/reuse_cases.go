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

// freshOptions runs the stage, and then with options that no stage can take. In a separate process, such a stage
// fails: options.type sees that.
func freshOptions(p *probe) error {
	first, err := p.settled()
	switch {
	case err != nil:
		return err
	case first.failed():
		return skip("the stage does not succeed, see execution.ends")
	case !readsOptions(p, first.stage):
		return skip("the stage is not known to have options")
	}
	wrong := order{edit: func(r *deployment.ExecuteStageRequest) { r.Input.StageConfig = []byte(`["not", "options"]`) }}
	alone, err := p.start(setup{})
	if err != nil {
		return err
	}
	if e, err := alone.execute(p, wrong); err != nil || !e.failed() {
		return orSkip(err, "it does not refuse wrong options, see options.type")
	}
	after, err := p.start(setup{})
	if err != nil {
		return err
	}
	if e, err := after.execute(p, order{}); err != nil || e.failed() || e.cut {
		return orSkip(err, "the stage does not succeed, see execution.ends")
	}
	e, err := after.execute(p, wrong)
	if err != nil {
		return err
	}
	if e.err == nil && !e.failed() && !e.cut {
		return fmt.Errorf("options that it refuses in a new process are taken after a stage with other options (%s): "+
			"it keeps the options of an earlier stage", e.how())
	}
	p.saw("%s", e.how())
	return nil
}

// orSkip is the error, or else a case that is not applicable.
func orSkip(err error, why string) error {
	if err != nil {
		return err
	}
	return skip("%s", why)
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
