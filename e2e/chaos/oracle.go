// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// oracle remembers what was seen, and finds what contradicts it.
type oracle struct {
	environment *environment
	// seen are the deployments of earlier checks: none may be lost, none that ended may change.
	seen map[string]*deckv1.Deployment
	// read is how much of the ledger was judged.
	read int
	// done are the steps that ended in a stage that was seen to have succeeded.
	finished map[string]bool
}

func newOracle(e *environment) *oracle {
	return &oracle{environment: e, seen: map[string]*deckv1.Deployment{}, finished: map[string]bool{}}
}

// check compares the present state with what was seen before. Nothing may be under way.
func (o *oracle) check(ctx context.Context, where string) error {
	now := o.environment.view.all()
	if err := o.checkCommand(ctx, where, now); err != nil {
		return err
	}
	for id, before := range o.seen {
		d := now[id]
		switch {
		case d == nil:
			o.environment.findings.add("%s: lost deployment %s of %s", where, id, before.GetApplicationName())
		case ended(before) && d.GetStatus() != before.GetStatus():
			o.environment.findings.add("%s: deployment %s of %s was %s and is %s", where, id,
				before.GetApplicationName(), before.GetStatus(), d.GetStatus())
		}
	}
	if err := o.checkLedger(where); err != nil {
		return err
	}
	if err := o.checkLogs(ctx, where, now); err != nil {
		return err
	}
	for id, d := range now {
		o.seen[id] = d
	}
	return nil
}

// remember takes over the present state, which may be in motion.
func (o *oracle) remember() {
	for id, d := range o.environment.view.all() {
		o.seen[id] = d
	}
}

// checkCommand sees that the list that scripts read holds the same deployments.
func (o *oracle) checkCommand(ctx context.Context, where string, now map[string]*deckv1.Deployment) error {
	stdout, stderr, code, err := o.environment.pipedeck(ctx, "deployments", "-o", "json")
	if err != nil {
		return err
	}
	var listed struct{ Deployments []struct{ ID string } }
	if err := json.Unmarshal([]byte(stdout), &listed); err != nil || code != 0 {
		return fmt.Errorf("pipedeck deployments -o json ended with %d: %s (%v)", code, stderr, err)
	}
	if len(listed.Deployments) != len(now) {
		o.environment.findings.add("%s: pipedeck deployments lists %d, the deck API %d", where,
			len(listed.Deployments), len(now))
	}
	return nil
}

// checkLedger finds two at once, and steps that ran again although they had ended and were recorded.
func (o *oracle) checkLedger(where string) error {
	marks, err := readLedger(o.environment.ledger)
	if err != nil {
		return err
	}
	for _, m := range marks[o.read:] {
		step := m.Deployment + " " + m.Step
		switch {
		case m.Kind == "overlap":
			o.environment.findings.add("%s: two at once: step %s of %s began while another one of the application ran",
				where, m.Step, m.App)
		case m.Kind == "begin" && o.finished[step]:
			o.environment.findings.add("%s: ran again: step %s of deployment %s of %s had ended and was recorded",
				where, m.Step, m.Deployment, m.App)
		}
	}
	// Everything has ended by now, and was recorded: none of it may begin again.
	for _, m := range marks {
		o.finished[m.Deployment+" "+m.Step] = true
	}
	o.read = len(marks)
	return nil
}

// checkLogs sees that the stage logs of new deployments hold the last line of each script that succeeded.
func (o *oracle) checkLogs(ctx context.Context, where string, now map[string]*deckv1.Deployment) error {
	deck, err := o.environment.view.client()
	if err != nil {
		return err
	}
	for id, d := range now {
		if o.seen[id] != nil {
			continue
		}
		for _, s := range d.GetStages() {
			if s.GetName() != "SCRIPT_RUN" || s.GetStatus() != deckv1.StageStatus_STAGE_STATUS_SUCCESS {
				continue
			}
			has, err := logHas(ctx, deck, id, s.GetId(), "beat ends "+id)
			if err != nil {
				return err
			}
			if !has {
				o.environment.findings.add("%s: the log of stage %s of deployment %s of %s lacks the last line of "+
					"its script", where, s.GetId(), id, d.GetApplicationName())
			}
		}
	}
	return nil
}
