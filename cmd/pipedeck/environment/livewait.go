// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/report"
	"github.com/pipedeck/pipedeck/tui/state"
)

const (
	// examineTime is how long ci waits for the live states of what it has deployed. Plugins without a live state never
	// report one, and nothing says so.
	examineTime = 3 * time.Second
	// recoverTime is how long ci waits for an application to become healthy: Kubernetes gives the pods of the commit
	// before 30 s to end, and an application is not healthy while they do.
	recoverTime = time.Minute
	// afterTime is how long ci looks on when it has deployed several applications: the last deployment may have taken
	// an object from an application that was examined before, and piped looks at that again within half a second.
	afterTime = time.Second
)

// liveWait keeps a run that has ended open until what runs of the deployed is known, and is healthy. It waits for
// events, and at most for its two times; after a failure only for the first one, since nothing makes the run succeed.
// Its methods are for the reader of the events.
type liveWait struct {
	head string
	// stop ends the reader when time is up.
	stop context.CancelFunc
	// tolerant says that what is not healthy does not fail the run, so that it is not waited for.
	tolerant bool
	// settled says that everything is deployed, or has failed.
	settled bool

	mu   sync.Mutex
	left []string
	// failed says that something was not deployed. unhealthy says that left has applications that are not healthy. late
	// says that examineTime is over, quiet that afterTime is, or that there is one application only.
	failed, unhealthy, late, quiet bool
	timers                         []*time.Timer
}

// follows reports whether a run has ended by step and there is nothing more to wait for. What begins to be deployed
// meanwhile belongs to the run.
func (w *liveWait) follows(d *state.Deck, step, succeeded func() bool) bool {
	if w.settled && d.Deploying() {
		w.reset()
	}
	if !w.settled && !step() {
		return false
	}
	if !w.settled {
		w.settle(!succeeded())
	}
	return w.over(d)
}

func (w *liveWait) settle(failed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settled, w.failed = true, failed
}

// over reports whether there is nothing more to wait for.
func (w *liveWait) over(d *state.Deck) bool {
	left, unhealthy := w.inspect(d)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timers == nil {
		w.timers = []*time.Timer{time.AfterFunc(examineTime, w.examined), time.AfterFunc(recoverTime, w.stop)}
		if w.quiet = !areSeveral(d); !w.quiet {
			w.timers = append(w.timers, time.AfterFunc(afterTime, w.after))
		}
	}
	w.left, w.unhealthy = left, unhealthy
	return w.quiet && len(left) == 0 || w.late && (w.failed || !unhealthy)
}

// areSeveral reports whether several applications have deploy targets.
func areSeveral(d *state.Deck) bool {
	placed := slices.DeleteFunc(slices.Clone(d.Applications()), func(app *deckv1.Application) bool {
		return len(app.GetDeployTargets()) == 0
	})
	return len(placed) > 1
}

// after ends the wait when nothing was left to wait for but news.
func (w *liveWait) after() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.quiet = true
	if len(w.left) == 0 {
		w.stop()
	}
}

// examined ends the wait when it is only for live states that were not reported, or when the run has failed.
func (w *liveWait) examined() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.late = true
	if w.failed || !w.unhealthy {
		w.stop()
	}
}

// reset begins again: something is being deployed. It may be called when there is nothing to wait for.
func (w *liveWait) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, timer := range w.timers {
		timer.Stop()
	}
	w.timers, w.left = nil, nil
	w.failed, w.unhealthy, w.late, w.quiet, w.settled = false, false, false, false, false
}

// text is what it waits for; empty for nothing.
func (w *liveWait) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.left, "; ")
}

// succeeded reports whether everything that a run has to deploy is deployed by now.
func (r *results) succeeded() bool {
	run := r.run(time.Now())
	return len(run.Failed()) == run.Count(report.Unhealthy) || run.AllowUnhealthy && len(run.Failed()) == 0
}

// inspect says of the applications that HEAD has deployed which are not examined or not healthy.
func (w *liveWait) inspect(d *state.Deck) (left []string, unhealthy bool) {
	for _, app := range d.Applications() {
		newest := d.Newest(app.GetId())
		switch {
		case newest.GetStatus() != deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, app.GetDisabled():
		case report.IsWatched(app) && newest.GetCommit().GetHash() != w.head:
		case app.GetHealth() == deckv1.HealthStatus_HEALTH_STATUS_OTHER && !w.tolerant:
			left = append(left, fmt.Sprintf("%s is UNHEALTHY: %s", app.GetName(), app.GetHealthReason()))
			unhealthy = true
		case len(app.GetDeployTargets()) > 0 && app.GetExaminedDeploymentId() != newest.GetId():
			left = append(left, "the live state of "+app.GetName()+" is not known yet")
		}
	}
	return left, unhealthy
}
