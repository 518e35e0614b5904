// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// Ended reports whether a deployment will not change any more.
func Ended(status deckv1.DeploymentStatus) bool {
	switch status {
	case deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS,
		deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE,
		deckv1.DeploymentStatus_DEPLOYMENT_STATUS_CANCELLED:
		return true
	}
	return false
}

// StageEnded reports whether a stage will not change any more.
func StageEnded(status deckv1.StageStatus) bool {
	switch status {
	case deckv1.StageStatus_STAGE_STATUS_UNSPECIFIED,
		deckv1.StageStatus_STAGE_STATUS_NOT_STARTED,
		deckv1.StageStatus_STAGE_STATUS_RUNNING:
		return false
	}
	return true
}

// Ready reports whether the environment can deploy: its control plane and its agent run, or everything
// it has does, or an application has already been seen.
func (d *Deck) Ready() bool {
	if len(d.applications) > 0 {
		return true
	}
	ready := map[string]bool{}
	all := len(d.components) > 0
	for name, component := range d.components {
		is := running(component)
		ready[plainName(name)] = is
		all = all && is
	}
	return all || (ready["controlplane"] && ready["piped"])
}

// running reports whether a component has become ready and still runs, degraded or not.
func running(c *deckv1.Component) bool {
	return c.GetState() == deckv1.Component_STATE_READY || c.GetState() == deckv1.Component_STATE_DEGRADED &&
		c.GetEndedAt().IsValid()
}

// Failed returns the components that failed.
func (d *Deck) Failed() []*deckv1.Component {
	var failed []*deckv1.Component
	for _, component := range d.Components() {
		if component.GetState() == deckv1.Component_STATE_FAILED {
			failed = append(failed, component)
		}
	}
	return failed
}

// Stopping reports whether the control plane or the agent has been stopped on purpose: the environment
// is going away. Other parts may stop and start while it runs.
func (d *Deck) Stopping() bool {
	for name, component := range d.components {
		stopped := component.GetState() == deckv1.Component_STATE_STOPPED
		if kind := plainName(name); stopped && (kind == "controlplane" || kind == "piped") {
			return true
		}
	}
	return false
}

// Starting reports whether a component is starting.
func (d *Deck) Starting() bool {
	for _, component := range d.components {
		if component.GetState() == deckv1.Component_STATE_STARTING {
			return true
		}
	}
	return false
}

// Deploying reports whether a deployment has not ended.
func (d *Deck) Deploying() bool { return len(d.running) > 0 }

// Running counts the deployments of a deck that have not ended.
func Running(d *Deck) int { return len(d.running) }

// SettledAt reports whether every application is at its commit, or will not be: the newest deployment of each has ended
// and none that has to be deployed is left. at reports whether an application that was deployed from a commit need not
// be deployed again. failed are the newest deployments that did not succeed, broken the applications whose
// configuration is invalid.
// It is false before the state is complete, while the agent starts, and while there is no application. Only
// applications that have been seen count: whoever waits for all of them must know how many there are.
// Those that manual names, or that their piped reports as manual, are not waited for until they are deployed.
func (d *Deck) SettledAt(
	at func(app *deckv1.Application, commit string) bool, manual ...string,
) (settled bool, failed []*deckv1.Deployment, broken []*deckv1.Application) {
	if !d.synced || d.next != nil || len(d.applications) == 0 {
		return false, nil, nil
	}
	settled = !agentStarts(d.components)
	for _, app := range d.Applications() {
		if app.GetDisabled() || app.GetSync() == deckv1.SyncStatus_SYNC_STATUS_ORPHANED {
			continue
		}
		if app.GetSync() == deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG {
			broken = append(broken, app)
			continue
		}
		newest := d.Newest(app.GetId())
		switch {
		case newest == nil:
			settled = settled && (app.GetManual() || slices.Contains(manual, app.GetName()))
		case !Ended(newest.GetStatus()), !at(app, newest.GetCommit().GetHash()):
			settled = false
		case newest.GetStatus() != deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS:
			failed = append(failed, newest)
		}
	}
	return settled, failed, broken
}

// agentStarts reports whether the agent is not running yet: what is known of the applications may be from an earlier
// one.
func agentStarts(components map[string]*deckv1.Component) bool {
	for name, component := range components {
		if plainName(name) == "piped" {
			return component.GetState() == deckv1.Component_STATE_PENDING ||
				component.GetState() == deckv1.Component_STATE_STARTING
		}
	}
	return false
}

// plainName makes "Control plane", "control-plane" and "controlplane" one.
func plainName(name string) string {
	return strings.NewReplacer(" ", "", "-", "", "_", "").Replace(strings.ToLower(name))
}

// StageTook is how long the latest attempt at a stage has run, without the time that it was paused at breakpoints.
func StageTook(s *deckv1.Stage, now time.Time) time.Duration {
	took := Elapsed(s.GetStartedAt(), s.GetCompletedAt(), now) - s.GetPaused().AsDuration()
	if since := s.GetPause().GetSince(); since.IsValid() {
		took -= Elapsed(since, s.GetCompletedAt(), now)
	}
	return max(0, took)
}

// Elapsed is the time from start to end, or to now while end is not set; zero before start.
func Elapsed(start, end *timestamppb.Timestamp, now time.Time) time.Duration {
	if !start.IsValid() || start.AsTime().Unix() <= 0 {
		return 0
	}
	if end.IsValid() && end.AsTime().Unix() > 0 {
		now = end.AsTime()
	}
	return max(0, now.Sub(start.AsTime()))
}
