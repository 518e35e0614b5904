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
)

// CancelledError is the cause of work that a user cancelled.
type CancelledError struct {
	Commander string
	// Rollback undoes what was done even when the application says otherwise; NoRollback leaves it as it is.
	// Without either the application decides.
	Rollback, NoRollback bool
}

// cancelledBy begins the reason of every deployment that a user cancelled (PipeCD v1: too).
const cancelledBy = "Cancelled by "

// What follows in the reason when a user has decided about the rollback. The next piped reads it there
// when this one dies before the rollback.
const (
	withRollback    = " with a rollback"
	withoutRollback = " without a rollback"
)

func (e *CancelledError) Error() string {
	switch {
	case e.Rollback:
		return cancelledBy + e.Commander + withRollback
	case e.NoRollback:
		return cancelledBy + e.Commander + withoutRollback
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

// Cancellation carries a user's wish to cancel from the Controller to a deployment. The zero value is
// ready. The first wish cancels; a later one may still change what is said about the rollback.
type Cancellation struct {
	mu      sync.Mutex
	wish    *CancelledError
	watcher func(*CancelledError)
}

// Cancel makes the wish known.
func (c *Cancellation) Cancel(by *CancelledError) {
	c.mu.Lock()
	first := c.wish == nil
	if first || by.Rollback || by.NoRollback {
		c.wish = by
	}
	watcher := c.watcher
	c.mu.Unlock()
	if first && watcher != nil {
		watcher(by)
	}
}

// onCancel calls f at the wish, at once when it was made already. There is one watcher at a time.
func (c *Cancellation) onCancel(f func(*CancelledError)) (unwatch func()) {
	c.mu.Lock()
	c.watcher = f
	wish := c.wish
	c.mu.Unlock()
	if wish != nil {
		f(wish)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.watcher = nil
	}
}

func (c *Cancellation) by() *CancelledError {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wish
}

func success(reason string) Outcome {
	return Outcome{Status: model.DeploymentStatus_DEPLOYMENT_SUCCESS, Reason: reason}
}

func failedStage(stage *model.PipelineStage) Outcome {
	why := stage.GetStatusReason()
	if stage.GetStatus() == model.StageStatus_STAGE_CANCELLED {
		reason := fmt.Sprintf("%s while executing stage %s", cmp.Or(why, "Cancelled"), stage.GetName())
		return Outcome{Status: model.DeploymentStatus_DEPLOYMENT_CANCELLED, Reason: reason}
	}
	reason := fmt.Sprintf("Stage %s failed", stage.GetName())
	if why != "" {
		reason += ": " + why
	}
	return Outcome{Status: model.DeploymentStatus_DEPLOYMENT_FAILURE, Reason: reason}
}

// interruption tells how something else than a stage has ended the deployment. During are the stages that
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
		return Outcome{Status: model.DeploymentStatus_DEPLOYMENT_FAILURE, Reason: fmt.Sprintf("The deployment timed out after %s%s", timeout.After, where)}
	default:
		return Outcome{Status: model.DeploymentStatus_DEPLOYMENT_FAILURE, Reason: cause.Error() + where}
	}
}
