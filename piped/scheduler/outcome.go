// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/supersede"
)

// CancelledError is the cause of work that a user cancelled, or that a newer commit has superseded.
type CancelledError struct {
	Commander string
	// By is the deployment of the newer commit; zero when a user cancelled.
	By supersede.By
	// Rollback undoes what was done even when the application says otherwise; NoRollback leaves it as it is.
	// Without either the application decides.
	Rollback, NoRollback bool
}

const (
	// cancelledBy begins the reason of every deployment that a user cancelled (PipeCD v1: too).
	cancelledBy = "Cancelled by "
	// supersededBy begins the reason of every deployment that a newer commit has ended.
	supersededBy = "Superseded by deployment "
)

// superseded reports whether a newer commit is the cause.
func (e *CancelledError) superseded() bool { return e != nil && e.By != (supersede.By{}) }

// Error names the user and the choice about the rollback, or the deployment of the newer commit. The text is for
// people; programs read the choice and the deployment from the metadata of the deployment.
func (e *CancelledError) Error() string {
	if e.superseded() {
		return fmt.Sprintf("%s%.8s (commit %.7s)", supersededBy, e.By.Deployment, e.By.Commit)
	}
	switch e.choice() {
	case choiceRollback:
		return cancelledBy + e.Commander + " with a rollback"
	case choiceNoRollback:
		return cancelledBy + e.Commander + " without a rollback"
	default:
		return cancelledBy + e.Commander
	}
}

// TimeoutError is the cause of work that took too long.
type TimeoutError struct {
	// What ran out of time: "the deployment" or "the stage".
	What  string
	After time.Duration
}

func (e *TimeoutError) Error() string { return fmt.Sprintf("%s timed out after %s", e.What, e.After) }

// Cancellation carries a user's request to cancel from the Controller to a deployment. The zero value is
// ready. The first request cancels; a later one may still change the choice about the rollback.
type Cancellation struct {
	mu      sync.Mutex
	request *CancelledError
	watcher func(*CancelledError)
	// offered becomes the request while waiting is set.
	offered *CancelledError
	// waiting reports whether the deployment does nothing but wait now; nil is no.
	waiting func() bool
	// rollback gets requests for no rollback while one runs; nil while none does.
	rollback func(*CancelledError)
	// paused is how many stages are paused at breakpoints, where a user works on them.
	paused int
}

// Cancel passes a request on.
func (c *Cancellation) Cancel(by *CancelledError) {
	c.mu.Lock()
	first := c.request == nil
	if first || by.choice() != "" {
		c.request = by
	}
	watcher, rollback := c.watcher, c.rollback
	c.mu.Unlock()
	if first && watcher != nil {
		watcher(by)
	}
	if rollback != nil && by.NoRollback {
		rollback(by)
	}
}

// Offer passes on a request that cancels as soon as the deployment waits. It replaces the one before; nil withdraws it.
func (c *Cancellation) Offer(by *CancelledError) {
	c.mu.Lock()
	c.offered = by
	accepted := c.accepted()
	c.mu.Unlock()
	if accepted != nil {
		c.Cancel(accepted)
	}
}

// waits says whether the deployment does nothing but wait now: it has not started, or only stages run that wait for a
// user or a time.
func (c *Cancellation) waits(now bool) { c.waitsWhile(func() bool { return now }) }

// waitsWhile is waits with an answer that may change. It is asked with the lock held.
func (c *Cancellation) waitsWhile(now func() bool) {
	c.mu.Lock()
	c.waiting = now
	accepted := c.accepted()
	c.mu.Unlock()
	if accepted != nil {
		c.Cancel(accepted)
	}
}

// pause adds to the number of stages that are paused at breakpoints.
func (c *Cancellation) pause(more int) {
	c.mu.Lock()
	c.paused += more
	accepted := c.accepted()
	c.mu.Unlock()
	if accepted != nil {
		c.Cancel(accepted)
	}
}

// accepted is the offered request if it counts now. The lock is held.
func (c *Cancellation) accepted() *CancelledError {
	if c.offered == nil || c.paused > 0 || c.waiting == nil || !c.waiting() {
		return nil
	}
	return c.offered
}

// onCancel calls f at the first request, at once when there is one already. There is one watcher at a time.
func (c *Cancellation) onCancel(f func(*CancelledError)) (unwatch func()) {
	c.mu.Lock()
	c.watcher = f
	request := c.request
	c.mu.Unlock()
	if request != nil {
		f(request)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.watcher = nil
	}
}

// onNoRollback calls f at a request for no rollback, at once when there is one already. There is one watcher at a time.
func (c *Cancellation) onNoRollback(f func(*CancelledError)) (unwatch func()) {
	c.mu.Lock()
	c.rollback = f
	request := c.request
	c.mu.Unlock()
	if request != nil && request.NoRollback {
		f(request)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.rollback = nil
	}
}

func (c *Cancellation) by() *CancelledError {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.request
}

func success(reason string) Outcome {
	return Outcome{Status: model.DeploymentStatus_DEPLOYMENT_SUCCESS, Reason: reason}
}

func failedStage(stage *model.PipelineStage) Outcome {
	why := stage.GetStatusReason()
	if stage.GetStatus() == model.StageStatus_STAGE_CANCELLED {
		reason := fmt.Sprintf("%s while executing stage %s", cmp.Or(why, "Cancelled"), word(stage))
		return Outcome{Status: model.DeploymentStatus_DEPLOYMENT_CANCELLED, Reason: reason}
	}
	reason := fmt.Sprintf("Stage %s failed", word(stage))
	if why != "" {
		reason += ": " + why
	}
	return Outcome{Status: model.DeploymentStatus_DEPLOYMENT_FAILURE, Reason: reason}
}

// interruption reports how something else than a stage has ended the deployment. During are the stages that
// were running, none between stages.
func interruption(work context.Context, during []*model.PipelineStage) Outcome {
	var cancelled *CancelledError
	var timeout *TimeoutError
	cause := context.Cause(work)
	where := ""
	if len(during) > 0 {
		where = " while executing " + names(during)
	}
	switch {
	case errors.As(cause, &cancelled):
		return Outcome{Status: model.DeploymentStatus_DEPLOYMENT_CANCELLED, Reason: cancelled.Error() + where}
	case errors.As(cause, &timeout):
		return Outcome{
			Status: model.DeploymentStatus_DEPLOYMENT_FAILURE,
			Reason: fmt.Sprintf("The deployment timed out after %s%s", timeout.After, where),
		}
	default:
		return Outcome{Status: model.DeploymentStatus_DEPLOYMENT_FAILURE, Reason: cause.Error() + where}
	}
}
