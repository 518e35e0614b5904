// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

func againCases() []Case {
	return []Case{{
		ID: "again.same-process", Capability: Execution, run: sameProcess,
		Title: "the stage of a second deployment ends as that of the first in the same process",
		Why:   "a plugin serves for weeks; what works once and then no more needs a restart after each deployment",
		Next:  "keep no state of a stage in variables of the process",
	}, {
		ID: "again.attempt", Capability: Execution, run: secondAttempt,
		Title: "takes a stage up again after a restart",
		Why:   "piped runs a stage that was under way once more after a restart, and the deployment would hang or fail",
		Next: "let ExecuteStage be called twice for one stage; what an attempt needs of the one before is stage " +
			"metadata",
	}, {
		ID: "again.log", Capability: Execution, run: attemptLog,
		Title: "the log of a second attempt has indexes that the first has not used",
		Why:   "the control plane drops blocks whose index it has, so users do not see the log of the second attempt",
		Next:  "begin the indexes of each attempt at the clock's microseconds",
	}, {
		ID: "again.killed", Capability: Execution, run: attemptAfterKill,
		Title: "takes a stage up again after its process was killed in the middle",
		Why:   "machines crash; the deployment would need a hand afterwards",
		Next:  "tolerate what an attempt has left half done, such as lock files and metadata",
	}, {
		ID: "again.middle", Capability: Execution, run: attemptAfterMiddle,
		Title: "takes a stage up again after its process was killed when half of its work was reported",
		Why:   "machines crash; the deployment would fail, or its users would not see the log of the second attempt",
		Next: "go on from what stage metadata says is done, and begin the indexes of each attempt at the clock's " +
			"microseconds",
	}, {
		ID: "again.without-sources", Capability: Execution, run: withoutSources,
		Title: "a request without sources does not end the process",
		Why:   "the first deployment of an application has no running source, and a plugin may ask for none at all",
		Next:  "treat absent sources as nothing deployed, or end the stage with an error",
	}}
}

func sameProcess(p *probe) error {
	first, err := p.settled()
	if err != nil {
		return err
	}
	second, err := p.used.execute(p, order{})
	switch {
	case err != nil:
		return err
	case second.cut:
		return fmt.Errorf("the first time the stage ended in %s; the second was still at work after %s", first.kind(),
			p.suite.options.RunLimit)
	case second.kind() != first.kind():
		return fmt.Errorf("the first time the stage ended in %s, the second time in %s: %s", first.kind(),
			second.kind(), second.how())
	}
	if own := foreign(first, second); own > 0 {
		return fmt.Errorf("the log of the second stage also holds the %d entries of the log of the first: state of a "+
			"stage is kept in the process", own)
	}
	p.saw("%s", second.how())
	return second.problem()
}

// foreign counts the entries of an earlier stage in the log of another one that has other entries besides.
func foreign(first, second *execution) int {
	a, b := first.session.piped.Blocks(first.id, false), second.session.piped.Blocks(second.id, false)
	if len(b) <= len(a) {
		return 0
	}
	for _, entry := range a {
		if !slices.ContainsFunc(b, func(other *model.LogBlock) bool {
			return entry.GetIndex() == other.GetIndex() && entry.GetLog() == other.GetLog()
		}) {
			return 0
		}
	}
	return len(a)
}

// attempts runs a stage, starts the program again on the same state, and runs the stage once more.
func attempts(p *probe) (*session, *execution, error) {
	if _, err := p.settled(); err != nil {
		return nil, nil, err
	}
	x, err := p.start(setup{})
	if err != nil {
		return nil, nil, err
	}
	first, err := x.execute(p, order{})
	if err != nil {
		return nil, nil, err
	}
	if first.cut {
		return nil, nil, skip("%s", p.suite.cutOff())
	}
	if err := x.restart(p); err != nil {
		return nil, nil, err
	}
	second, err := x.execute(p, order{id: first.id, attempt: 1})
	return x, second, err
}

// restart kills the process and starts another one with the same piped.
func (x *session) restart(p *probe) error {
	x.process.kill()
	if err := x.conn.Close(); err != nil {
		return err
	}
	x.port = 0
	if err := x.launch(x.piped.Address, setup{}); err != nil {
		return err
	}
	return x.await(p.ctx)
}

func secondAttempt(p *probe) error {
	_, second, err := attempts(p)
	switch {
	case err != nil:
		return err
	case second.cut:
		return fmt.Errorf("the second attempt was still at work after %s", p.suite.options.RunLimit)
	}
	p.saw("%s", second.how())
	return second.problem()
}

func attemptLog(p *probe) error {
	x, second, err := attempts(p)
	if err != nil {
		return err
	}
	if x.piped.LogCalls(second.id) == 0 {
		return skip("the stage writes no log")
	}
	if lost := x.piped.LogConflicts(second.id); lost > 0 {
		return fmt.Errorf("%d of the log blocks of the second attempt have indexes that the first attempt has used: "+
			"users do not see them", lost)
	}
	p.saw("log blocks of both attempts: %d", len(x.piped.Blocks(second.id, false)))
	return nil
}

func attemptAfterKill(p *probe) error {
	first, err := p.settled()
	if err != nil {
		return err
	}
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	held, err := p.hold(x, order{})
	if err != nil {
		return err
	}
	if !held.begun() {
		held.finish()
		return skip("the stage ends without a request to piped, by which it could be held up")
	}
	x.process.kill()
	held.finish()
	if err := x.restart(p); err != nil {
		return err
	}
	second, err := x.execute(p, order{id: held.id, attempt: 1})
	switch {
	case err != nil:
		return err
	case second.cut:
		return fmt.Errorf("the attempt after the kill was still at work after %s", p.suite.options.RunLimit)
	case second.problem() != nil:
		return second.problem()
	case !first.failed() && second.failed():
		return fmt.Errorf("the attempt after the kill ended in %s", second.how())
	}
	p.saw("%s; stored with the stage: %s", second.how(),
		strings.Join(sortedKeys(maps.Clone(x.piped.StageMetadata(held.id))), ", "))
	return nil
}

func attemptAfterMiddle(p *probe) error {
	first, err := p.settled()
	if err != nil {
		return err
	}
	half := len(first.session.rec.of(first.id)) / 2
	if half < 2 || first.failed() {
		return skip("the stage asks piped for too little to be killed in its middle")
	}
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	use, _ := deployment.NewSourceUseServiceClient(x.conn).GetSourceUse(p.ctx, &deployment.GetSourceUseRequest{})
	if slices.Contains(use.GetOnce(), p.suite.stage(x)) {
		return skip("it says that the stage is not executed again")
	}
	held, err := p.hold(x, order{free: half})
	if err != nil {
		return err
	}
	if !held.begun() {
		held.finish()
		return skip("the stage ends without the requests of its first run, by which it could be held up")
	}
	x.process.kill()
	held.finish()
	if err := x.restart(p); err != nil {
		return err
	}
	second, err := x.execute(p, order{id: held.id, attempt: 1})
	switch {
	case err != nil:
		return err
	case second.cut:
		return fmt.Errorf("the attempt after the kill was still at work after %s", p.suite.options.RunLimit)
	case second.problem() != nil:
		return second.problem()
	case second.failed():
		return fmt.Errorf("its process was killed in the middle of the stage, and the next attempt ended in %s",
			second.how())
	}
	if lost := x.piped.LogConflicts(held.id); lost > 0 {
		return fmt.Errorf("%d of the log blocks of the attempt after the kill have indexes that the first attempt has "+
			"used: users do not see them", lost)
	}
	p.saw("%s", second.how())
	return nil
}

func withoutSources(p *probe) error {
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	e, err := x.execute(p, order{edit: func(request *deployment.ExecuteStageRequest) {
		request.Input.TargetDeploymentSource, request.Input.RunningDeploymentSource = nil, nil
	}})
	switch {
	case err != nil:
		return err
	case e.cut:
		return skip("%s", p.suite.cutOff())
	}
	p.saw("%s", e.how())
	return e.problem()
}
