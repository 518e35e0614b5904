// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"

	"github.com/pipedeck/pipedeck/api/model"
)

// deploymentIndex finds deployments by id, by piped and in the order in which they ended. It has no lock: it belongs to
// the holder of the lock of Deployments.
type deploymentIndex struct {
	byID map[string]*deployment
	// open are the deployments of each piped that have not ended, the oldest first.
	open map[string][]*deployment
	// Completed deployments, the one that ended first in front.
	completed []*deployment
	sequence  int
}

func (x *deploymentIndex) clear() {
	x.byID, x.open, x.completed = map[string]*deployment{}, map[string][]*deployment{}, nil
}

// running returns the number of deployments that have not ended.
func (x *deploymentIndex) running() int { return len(x.byID) - len(x.completed) }

func (x *deploymentIndex) find(id string) (*deployment, error) {
	if found := x.byID[id]; found != nil {
		return found, nil
	}
	return nil, notFound("Deployment is not found")
}

func (x *deploymentIndex) findOwned(pipedID, id string) (*deployment, error) {
	found, err := x.find(id)
	if err != nil {
		return nil, err
	}
	if found.model.GetPipedId() != pipedID {
		return nil, denied("deployment %s belongs to another piped", id)
	}
	return found, nil
}

// findStage returns a deployment of the piped with one of its stages.
func (x *deploymentIndex) findStage(pipedID, deploymentID, stageID string) (*deployment, *model.PipelineStage, error) {
	found, err := x.findOwned(pipedID, deploymentID)
	if err != nil {
		return nil, nil, err
	}
	stage := found.stage(stageID)
	if stage == nil {
		return nil, nil, invalid("deployment %s has no stage %s", deploymentID, stageID)
	}
	return found, stage, nil
}

// put adds a new deployment, which may have ended already.
func (x *deploymentIndex) put(added *deployment) {
	x.sequence++
	added.sequence = x.sequence
	x.byID[added.model.GetId()] = added
	if pipedID := added.model.GetPipedId(); !completed(added.model.GetStatus()) {
		x.open[pipedID] = append(x.open[pipedID], added)
	}
}

// complete files a deployment that has just ended. It forgets the oldest ones beyond the limits, and returns them.
func (x *deploymentIndex) complete(ended *deployment, limits Limits) (forgotten []*deployment) {
	pipedID, application := ended.model.GetPipedId(), ended.model.GetApplicationId()
	x.open[pipedID] = slices.DeleteFunc(x.open[pipedID], func(o *deployment) bool { return o == ended })
	x.completed = append(x.completed, ended)
	same, oldest := 0, -1
	for i, other := range x.completed {
		if other.model.GetApplicationId() != application {
			continue
		}
		if same++; oldest < 0 {
			oldest = i
		}
	}
	if same > limits.DeploymentsPerApplication {
		forgotten = append(forgotten, x.forget(oldest))
	}
	if len(x.completed) > limits.Deployments {
		forgotten = append(forgotten, x.forget(0))
	}
	return forgotten
}

func (x *deploymentIndex) forget(i int) *deployment {
	forgotten := x.completed[i]
	x.completed = slices.Delete(x.completed, i, i+1)
	delete(x.byID, forgotten.model.GetId())
	return forgotten
}
