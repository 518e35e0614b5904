// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"cmp"
	"time"

	"github.com/pipedeck/pipedeck/api/model"
)

// startTimes say how much time a stage or a deployment has left. Time goes on while no piped runs, as users read it on
// the wall.
type startTimes struct {
	// first is when it was started first, by whichever piped.
	first time.Time
	// began is when the last attempt of an earlier piped began, returned when this one took it up; both are
	// zero when no earlier piped had it.
	began, returned time.Time
}

// left is what remains of timeout. When the time ran out while no piped was there, the piped that comes
// back gets chance, once, for what was decided meanwhile: an approval may wait, or what the stage waits
// for may have come. Another restart gets no more, as far as the control plane keeps when attempts begin;
// PipeCD's does not.
func (c startTimes) left(timeout, chance time.Duration, now time.Time) time.Duration {
	end := c.first.Add(timeout)
	if !c.returned.IsZero() && !end.After(c.returned) && c.began.Before(end) {
		end = c.returned.Add(min(chance, timeout))
	}
	return end.Sub(now)
}

// clockOf returns the times of a deployment. Its time starts when the deployment is taken up here, or for one that an
// earlier piped has begun, when that was planned, which its stages tell.
func clockOf(d *model.Deployment, now time.Time) startTimes {
	if d.GetStatus() != model.DeploymentStatus_DEPLOYMENT_RUNNING {
		return startTimes{first: now}
	}
	planned, began := d.GetCreatedAt(), int64(0)
	for _, stage := range d.GetStages() {
		planned = max(planned, stage.GetCreatedAt())
		if stage.GetStatus() == model.StageStatus_STAGE_RUNNING {
			began = max(began, stage.GetUpdatedAt())
		}
	}
	return startTimes{first: time.Unix(planned, 0), began: time.Unix(began, 0), returned: now}
}

// takenUp returns the times of a stage that ran when an earlier piped ended. The reports of a running stage
// carry its first start where those of an ended one have its end: PipeCD v1 sends the time of the report
// there, and control planes keep it.
func takenUp(stage *model.PipelineStage, now time.Time) startTimes {
	first := cmp.Or(stage.GetCompletedAt(), stage.GetUpdatedAt(), now.Unix())
	return startTimes{first: time.Unix(first, 0), began: time.Unix(stage.GetUpdatedAt(), 0), returned: now}
}

// firstStart is when the stage was started first: now, unless that has been said before.
func (r *run) firstStart(stage *model.PipelineStage, now time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, known := r.clocks[stage.GetId()]
	if !known {
		c = startTimes{first: now}
		r.clocks[stage.GetId()] = c
	}
	return c.first
}

func (r *run) clock(stage *model.PipelineStage) startTimes {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clocks[stage.GetId()]
}
