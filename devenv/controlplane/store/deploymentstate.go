// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
)

func (s *Store) deployment(id string) (*deployment, error) {
	if d := s.deployments[id]; d != nil {
		return d, nil
	}
	return nil, notFound("Deployment is not found")
}

func (s *Store) ownedDeployment(pipedID, id string) (*deployment, error) {
	d, err := s.deployment(id)
	if err != nil {
		return nil, err
	}
	if d.model.GetPipedId() != pipedID {
		return nil, denied("deployment %s belongs to another piped", id)
	}
	return d, nil
}

// changeDeployment applies a report to a deployment that has not ended, and publishes it.
func (s *Store) changeDeployment(pipedID, id string, change func(*deployment) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.ownedDeployment(pipedID, id)
	if err != nil {
		return err
	}
	if completed(d.model.GetStatus()) {
		return precondition("deployment %s has ended as %s already", id, d.model.GetStatus())
	}
	if err := change(d); err != nil {
		return err
	}
	s.deploymentChanged(d)
	return nil
}

// deploymentChanged stamps and publishes. The caller holds s.mu.
func (s *Store) deploymentChanged(d *deployment) {
	d.model.UpdatedAt = s.now().Unix()
	s.followChain(d)
	s.publish(Change{Deployment: d.view()})
}

// putDeployment adds a new deployment, which may have ended already.
func (s *Store) putDeployment(d *deployment) {
	s.deployments[d.model.GetId()] = d
	if !completed(d.model.GetStatus()) {
		s.open[d.model.GetPipedId()] = append(s.open[d.model.GetPipedId()], d)
	}
}

// complete files a deployment that has just ended and forgets the oldest ones beyond the limits.
func (s *Store) complete(d *deployment) {
	s.open[d.model.GetPipedId()] = slices.DeleteFunc(s.open[d.model.GetPipedId()], func(o *deployment) bool { return o == d })
	for _, log := range d.logs {
		log.notify()
	}
	s.completed = append(s.completed, d)
	same, oldest := 0, -1
	for i, other := range s.completed {
		if other.model.GetApplicationId() != d.model.GetApplicationId() {
			continue
		}
		if same++; oldest < 0 {
			oldest = i
		}
	}
	if same > s.limits.DeploymentsPerApplication {
		s.forget(oldest)
	}
	if len(s.completed) > s.limits.Deployments {
		s.forget(0)
	}
}

// forget drops a completed deployment and its logs.
func (s *Store) forget(i int) {
	d := s.completed[i]
	s.completed = slices.Delete(s.completed, i, i+1)
	delete(s.deployments, d.model.GetId())
	s.dropLogs(d)
}

func (s *Store) nextSequence() int {
	s.sequence++
	return s.sequence
}

func (d *deployment) view() *Deployment {
	return &Deployment{
		Model: proto.CloneOf(d.model), Created: d.created, Completed: d.completed, Stages: maps.Clone(d.stages), EventCommit: d.eventCommit,
	}
}

func (d *deployment) stage(id string) *model.PipelineStage {
	for _, stage := range d.model.GetStages() {
		if stage.GetId() == id {
			return stage
		}
	}
	return nil
}
