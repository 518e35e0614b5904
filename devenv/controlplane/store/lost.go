// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
)

const lostReason = "its last state was lost when the history was damaged"

// Lost says that the newest record of an object is missing. What is known of the object is older, so whatever waits or
// runs is ended: a stage or command that has already run must not run again. It returns a name of the object for users.
func (s *Store) Lost(r journal.Record) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.Kind {
	case journal.Deployment:
		return s.lostDeployment(r)
	case journal.Command:
		return s.lostCommand(r)
	case journal.Application:
		if a := s.applications[r.ID]; a != nil {
			return "the last change of application " + a.model.GetName()
		}
	}
	return r.String()
}

func (s *Store) lostDeployment(r journal.Record) string {
	d := s.deployments[r.ID]
	if d == nil {
		return r.String()
	}
	name := "the last state of " + r.String() + " of application " + d.model.GetApplicationName()
	if completed(d.model.GetStatus()) {
		return name
	}
	now := s.now()
	d.model.Status, d.model.StatusReason = model.DeploymentStatus_DEPLOYMENT_CANCELLED, "Cancelled: "+lostReason
	d.model.CompletedAt, d.model.UpdatedAt, d.completed = now.Unix(), now.Unix(), now
	for _, stage := range d.model.GetStages() {
		if !ended(stage.GetStatus()) {
			stage.Status = model.StageStatus_STAGE_CANCELLED
			d.stampStage(stage, now)
		}
	}
	s.followChain(d)
	s.complete(d)
	return name + " (it is cancelled)"
}

func (s *Store) lostCommand(r journal.Record) string {
	c := s.commands.byID[r.ID]
	if c == nil {
		return r.String()
	}
	s.commands.waiting = slices.DeleteFunc(s.commands.waiting, func(w *model.Command) bool { return w == c })
	delete(s.commands.byID, r.ID)
	return r.String() + " (" + c.GetType().String() + " by " + c.GetCommander() + ", dropped)"
}

// maxOrphans bounds the log records whose stage is not known yet.
const maxOrphans = 10_000

// orphans are log records that came before their stage, whose own record is damaged.
type orphans struct {
	byDeployment map[string][]journal.Record
	count        int
}

func (o *orphans) add(r journal.Record) {
	if o.count >= maxOrphans {
		return
	}
	if o.byDeployment == nil {
		o.byDeployment = map[string][]journal.Record{}
	}
	r.Blocks = slices.Clone(r.Blocks)
	for i, block := range r.Blocks {
		r.Blocks[i] = slices.Clone(block)
	}
	o.byDeployment[r.ID] = append(o.byDeployment[r.ID], r)
	o.count++
}

func (o *orphans) take(deployment string) []journal.Record {
	records := o.byDeployment[deployment]
	delete(o.byDeployment, deployment)
	o.count -= len(records)
	return records
}
