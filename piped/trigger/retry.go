// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/piped/redeploy"
	"github.com/pipedeck/pipedeck/piped/removal"
)

// onFailure creates a deployment of the commit of the newest deployment again, when that has failed for a cause that
// may pass and the application wants retries. The number of the retry, and the time of the failure, are at the
// control plane, so a restart neither forgets a retry nor makes one too many.
func (t *Trigger) onFailure(ctx context.Context, c *candidate) error {
	id := c.application.GetId()
	if c.err != nil || c.deployed || c.config.Trigger.Retry == nil || t.settled[id] {
		return nil
	}
	last, err := t.history.lastDeployment(ctx, c.application)
	if err != nil {
		return err
	}
	now := t.options.Clock.Now()
	next, at := dueRetry(c.config.Trigger.Retry, last)
	switch {
	case last != nil && last.GetCompletedAt() == 0:
		t.schedule.within(t.options.Interval) // its end may be known here before the control plane has it
		return nil
	case at.IsZero():
		t.settled[id] = true
		return nil
	case now.Before(at):
		t.schedule.within(max(at.Sub(now), time.Second))
		return nil
	}
	trigger := last.GetTrigger()
	commander := trigger.GetCommander()
	err = t.createPast(ctx, c, request{application: id, past: next, cause: cause{
		kind: onRetry, id: uuid.NewSHA1(uuid.NameSpaceOID, []byte("retry of "+last.GetId())).String(),
		commander: commander, strategy: trigger.GetSyncStrategy(), why: next.Summary(commander),
		log: "deployment " + last.GetId() + " has failed for a cause that may pass",
	}})
	var unusable *unusableCommitError
	if controlplane.Refused(err) || errors.As(err, &unusable) {
		t.settled[id] = true
		t.logger.Warn("a failed deployment cannot be retried", "application", c.application.GetName(),
			"deployment", last.GetId(), "error", err)
		return nil
	}
	return err
}

// dueRetry returns the retry of a deployment, which may be nil, and when it is due; the time is zero when there is
// none.
func dueRetry(rule *config.Retry, last *model.Deployment) (redeploy.Request, time.Time) {
	next, more := redeploy.Next(last, rule.Limit)
	if !more || !redeploy.Passing(last) || removal.Is(last) { // it would deploy what Git had deleted
		return redeploy.Request{}, time.Time{}
	}
	return next, time.Unix(last.GetCompletedAt(), 0).Add(rule.Pause(next.Number))
}
