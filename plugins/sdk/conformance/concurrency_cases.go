// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// atOnce is how many stages run at the same time.
const atOnce = 8

func concurrencyCases() []Case {
	return []Case{{
		ID: "concurrency.ends", Capability: Concurrency, run: concurrentEnds,
		Title: fmt.Sprintf("%d stages at once end as one alone does", atOnce),
		Why:   "deployments of several applications run at the same time, and fail by chance",
		Next:  "share nothing between calls without a lock; run the plugin's tests with a race detector",
	}, {
		ID: "concurrency.parallel", Capability: Concurrency, run: concurrentParallel,
		Title: "stages run side by side, not one after another",
		Why:   "one long stage holds up the deployments of all other applications",
		Next:  "hold no lock while a stage runs, and serve calls in as many threads as come",
	}, {
		ID: "concurrency.log", Capability: Concurrency, run: concurrentLogs,
		Title: "stages that run at once have separate logs",
		Why:   "users see the log of another deployment, perhaps of another team",
		Next:  "bind the log to the call, not to a variable of the process",
	}, {
		ID: "concurrency.metadata", Capability: Concurrency, run: concurrentMetadata,
		Title: "stages that run at once have separate metadata",
		Why:   "a stage takes up the state of another deployment",
		Next:  "bind the ids of the deployment and the stage to the call, not to variables of the process",
	}, {
		ID: "concurrency.cancel", Capability: Concurrency, run: concurrentCancel,
		Title: "the cancel of one stage does not stop another",
		Why:   "a user who cancels a deployment stops those of other users",
		Next:  "use the context of the call, not one of the process",
	}}
}

// together runs several stages at once: each is held up until all have begun. In a second process, so that others do
// not disturb.
func together(p *probe) (*session, []*execution, error) {
	if len(p.suite.options.Settings.DeployTargets) > 0 {
		return nil, nil, skip("its deploy targets are shared, so its stages run one after another here")
	}
	if _, err := p.settled(); err != nil {
		return nil, nil, err
	}
	x, err := p.start(setup{})
	if err != nil {
		return nil, nil, err
	}
	ended := make([]*execution, atOnce)
	errs := make([]error, atOnce)
	var running sync.WaitGroup
	for i := range ended {
		running.Go(func() { ended[i], errs[i] = x.execute(p, order{}) })
	}
	running.Wait()
	if died := x.alive(); died != nil {
		return nil, nil, died
	}
	return x, ended, errors.Join(errs...)
}

func concurrentEnds(p *probe) error {
	_, ended, err := together(p)
	if err != nil {
		return err
	}
	alone := p.suite.baseline.value
	for _, e := range ended {
		switch {
		case e.cut:
			return fmt.Errorf("of %d stages at once, one was still at work after %s", atOnce, p.suite.options.RunLimit)
		case e.problem() != nil:
			return fmt.Errorf("of %d stages at once: %w", atOnce, e.problem())
		case e.kind() != alone.kind():
			return fmt.Errorf("of %d stages at once, one ended in %s, and one alone in %s: %s", atOnce, e.kind(),
				alone.kind(), e.how())
		}
	}
	return nil
}

func concurrentParallel(p *probe) error {
	if len(p.suite.options.Settings.DeployTargets) > 0 {
		return skip("its deploy targets are shared, so its stages run one after another here")
	}
	if _, err := p.settled(); err != nil {
		return err
	}
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	const stages = 4
	began := make(chan bool, stages)
	var all []*pending
	defer func() {
		for _, held := range all {
			held.finish()
		}
	}()
	for range stages {
		held, err := p.begin(x, order{})
		if err != nil {
			return err
		}
		all = append(all, held)
		go func() {
			select {
			case <-held.gate.begun:
				began <- true
			case e := <-held.ended:
				held.ended <- e
				began <- false
			}
		}()
	}
	limit := time.NewTimer(p.suite.bounds.Stop)
	defer limit.Stop()
	for i := range stages {
		select {
		case waits := <-began:
			if !waits {
				return skip("the stage ends without a request to piped, by which it could be held up")
			}
		case <-limit.C:
			if wroteAtOnce(p, x, all, began, stages-i) {
				return nil
			}
			return fmt.Errorf("while %d stages ran, no other began in %s: stages run one after another", i,
				p.suite.bounds.Stop)
		}
	}
	return nil
}

// wroteAtOnce reports whether all stages had written to their logs while the reports of one were held up: logs may be
// reported by one thread for all stages, as in PipeCD's SDK, although the stages run side by side. It lets them go on.
func wroteAtOnce(p *probe, x *session, all []*pending, began <-chan bool, missing int) bool {
	released := time.Now().Unix()
	for _, held := range all {
		held.gate.release()
	}
	limit := time.NewTimer(p.suite.bounds.Grace)
	defer limit.Stop()
	for range missing {
		select {
		case <-began:
		case <-limit.C:
			return false
		}
	}
	for _, held := range all {
		held.finish()
		blocks := x.piped.Blocks(held.id, false)
		if len(blocks) == 0 || blocks[0].GetCreatedAt() >= released {
			return false
		}
	}
	p.saw("logs are reported one after another")
	return true
}

func concurrentLogs(p *probe) error {
	x, ended, err := together(p)
	if err != nil {
		return err
	}
	if stray := x.rec.stray(); len(stray) > 0 {
		return fmt.Errorf("it sent %s for the stage %q of the deployment %q, which piped had not asked for together",
			stray[0].method, stray[0].stage, stray[0].deployment)
	}
	least, most := len(x.piped.Blocks(ended[0].id, false)), 0
	for _, e := range ended {
		least, most = min(least, len(x.piped.Blocks(e.id, false))), max(most, len(x.piped.Blocks(e.id, false)))
	}
	switch {
	case most == 0:
		return skip("the stage writes no log")
	case least == 0 || most > 3*least+5:
		return fmt.Errorf("of %d equal stages at once, one has %d log blocks and another %d: logs are mixed", atOnce,
			least, most)
	}
	p.saw("log blocks: %d to %d", least, most)
	return nil
}

func concurrentMetadata(p *probe) error {
	_, ended, err := together(p)
	if err != nil {
		return err
	}
	alone := p.suite.baseline.value
	if alone.keys() == "" {
		return skip("the stage stores no metadata")
	}
	for _, e := range ended {
		if e.keys() != alone.keys() {
			return fmt.Errorf("of %d equal stages at once, one stored the metadata %q, and one alone %q: metadata "+
				"is mixed",
				atOnce, e.keys(), alone.keys())
		}
	}
	p.saw("%s", alone.keys())
	return nil
}

// concurrentCancel cancels one of two stages.
func concurrentCancel(p *probe) error {
	if len(p.suite.options.Settings.DeployTargets) > 0 {
		return skip("its deploy targets are shared, so its stages run one after another here")
	}
	first, err := p.settled()
	if err != nil {
		return err
	}
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	stays, err := p.hold(x, order{})
	if err != nil {
		return err
	}
	defer stays.finish()
	other, err := p.begin(x, order{})
	if err != nil {
		return err
	}
	select {
	case <-other.gate.begun:
	case e := <-other.ended:
		other.ended <- e
	case <-time.After(2 * time.Second): // it may ask piped for nothing, or wait for the first one
	}
	other.cancel()
	p.pause(50 * time.Millisecond)
	other.finish()
	p.pause(100 * time.Millisecond)
	stays.gate.release()
	select {
	case e := <-stays.ended:
		stays.ended <- e
		if e.kind() != first.kind() {
			return fmt.Errorf("after the cancel of another stage it ended in %s, and in %s alone: %s", e.kind(),
				first.kind(), e.how())
		}
	case <-time.After(p.suite.options.RunLimit):
		return errors.New("after the cancel of another stage it did not end")
	}
	return nil
}
