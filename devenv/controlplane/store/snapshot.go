// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"slices"

	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

// SetEnvironment replaces the description of the environment.
func (s *Store) SetEnvironment(e *deckv1.Environment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.environment = proto.CloneOf(e)
	s.publish(Change{Environment: s.environment})
}

// SetComponent adds a part of the environment or replaces the one of that name.
func (s *Store) SetComponent(c *deckv1.Component) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c = proto.CloneOf(c)
	s.components[c.GetName()] = c
	s.publish(Change{Component: s.componentView(c)})
	s.judgeComponent(c)
}

// snapshot returns the whole state as changes: what others refer to comes first. The caller holds
// s.mu.
func (s *Store) snapshot(logs bool) []Change {
	var changes []Change
	if s.environment != nil {
		changes = append(changes, Change{Environment: s.environment})
	}
	for _, c := range sorted(s.components, func(a, b *deckv1.Component) int {
		return cmp.Or(cmp.Compare(a.GetOrder(), b.GetOrder()), cmp.Compare(a.GetName(), b.GetName()))
	}) {
		changes = append(changes, Change{Component: s.componentView(c)})
	}
	for _, p := range s.sortedProblems() {
		changes = append(changes, Change{Problem: p})
	}
	for _, p := range sorted(s.pipeds, func(a, b *piped) int { return cmp.Compare(a.model.GetId(), b.model.GetId()) }) {
		changes = append(changes, Change{Piped: s.pipedView(p)})
		for _, plugin := range p.shownPlugins() {
			changes = append(changes, Change{Plugin: plugin, PipedID: p.model.GetId()})
		}
	}
	for _, a := range sorted(s.applications, func(a, b *application) int {
		return cmp.Or(cmp.Compare(a.model.GetName(), b.model.GetName()), cmp.Compare(a.model.GetId(), b.model.GetId()))
	}) {
		if !a.model.GetDeleted() {
			changes = append(changes, Change{Application: s.applicationView(a)})
		}
	}
	for _, d := range sorted(s.deployments, func(a, b *deployment) int {
		return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.sequence, b.sequence))
	}) {
		changes = append(changes, Change{Deployment: d.view()})
		if logs {
			changes = append(changes, d.runningLogs()...)
		}
	}
	now := s.now()
	for i := range changes {
		changes[i].Time = now
	}
	return changes
}

func (d *deployment) runningLogs() []Change {
	var changes []Change
	for _, stage := range d.model.GetStages() {
		log := d.logs[stage.GetId()]
		if stage.GetStatus() != model.StageStatus_STAGE_RUNNING || log == nil || log.end() == log.dropped {
			continue
		}
		changes = append(changes, Change{Log: &LogChange{
			DeploymentID: d.model.GetId(), StageID: stage.GetId(), From: log.dropped, To: log.end(),
		}})
	}
	return changes
}

func sorted[T any](m map[string]T, compare func(a, b T) int) []T {
	all := make([]T, 0, len(m))
	for _, v := range m {
		all = append(all, v)
	}
	slices.SortFunc(all, compare)
	return all
}
