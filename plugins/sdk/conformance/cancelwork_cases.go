// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

func cancelWorkCases() []Case {
	return []Case{{
		ID: "cancel.work", Capability: Cancel, run: cancelWork,
		Title: "a cancelled stage that has completed its log works no more",
		Why:   "work that reports nothing goes on next to the rollback, and no one sees it",
		Next: "stop programs, threads and writes of the stage at the cancel, and wait for them before its log is " +
			"completed",
	}}
}

// cancelWork looks at the processor and at the sources, because such work sends nothing to piped.
func cancelWork(p *probe) error {
	if !observable {
		return skip("the time of a process is seen on Linux alone")
	}
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	var given atomic.Pointer[common.DeploymentSource]
	held, err := stopMoment(p, x, order{edit: func(request *deployment.ExecuteStageRequest) {
		given.Store(request.GetInput().GetTargetDeploymentSource())
	}})
	if err != nil {
		return err
	}
	begun := held.begun()
	held.cancel()
	p.pause(50 * time.Millisecond) // the plugin sees the cancel first
	held.finish()
	if !begun {
		return skip("the stage ends without a request to piped, by which it could be held up")
	}
	ctx, cancel := context.WithTimeout(p.ctx, p.suite.bounds.Stop)
	defer cancel()
	if x.piped.Until(ctx, func() bool { return x.piped.Completed(held.id) }) != nil {
		return skip("its log is not completed, see cancel.ends")
	}
	p.pause(300 * time.Millisecond) // what the process does at the end of a call
	source := given.Load()
	pid := x.process.command.Process.Pid
	files, known := fingerprint(source)
	before, ok := processorUse(pid)
	p.pause(p.suite.bounds.Quiet)
	after, okToo := processorUse(pid)
	if died := x.alive(); died != nil {
		return died
	}
	if later, knownToo := fingerprint(source); known && knownToo {
		for name, sum := range later {
			if files[name] != sum {
				return fmt.Errorf("after a cancel it completed the log of the stage, and has written %s in the "+
					"sources afterwards: the work goes on", name)
			}
		}
	}
	// As process.idle has it.
	const some = 40 * time.Millisecond
	ran := after.ran - before.ran
	if wanted := ran + after.waited - before.waited; ok && okToo && wanted > p.suite.bounds.Quiet/2 && ran > some {
		return fmt.Errorf("after a cancel it completed the log of the stage, and wanted %s of a processor in the %s "+
			"afterwards: the work goes on", wanted.Round(time.Millisecond), p.suite.bounds.Quiet)
	}
	return nil
}
