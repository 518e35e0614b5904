// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/google/uuid"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/piped/supersede"
	"github.com/pipedeck/pipedeck/piped/trigger/due"
)

// pass brings everything up to date with the news: configurations, then commands, then commits, then
// drift. What fails does not hold up the rest, unless the control plane cannot be reached.
func (t *Trigger) pass(ctx context.Context) error {
	t.begin()
	if err := t.refresh(ctx); err != nil {
		return err
	}
	diffs := diffs{}
	var candidates []*candidate
	steps := []func() error{
		func() error {
			err := t.registrar.report(ctx, t.snapshots)
			t.options.Unregistered(t.registrar.mistaken)
			return err
		},
		func() error { candidates = t.candidates(); t.options.Configured(configured(candidates)); return nil },
		func() error { return t.carryOut(ctx, candidates) },
		func() error { return each(candidates, func(c *candidate) error { return t.onCommit(ctx, c, diffs) }) },
		func() error { return each(candidates, func(c *candidate) error { return t.onFailure(ctx, c) }) },
		func() error { return each(candidates, func(c *candidate) error { return t.onOutOfSync(ctx, c) }) },
		func() error { return t.planRemovals(ctx, candidates) },
		func() error { return t.mistakes.reportBroken(ctx, candidates) },
		func() error { return each(candidates, func(c *candidate) error { return t.onRemoved(ctx, c) }) },
		func() error { return t.mistakes.reportFixed(ctx, candidates) },
	}
	var failed error
	for _, step := range steps {
		err := step()
		failed = errors.Join(failed, err)
		if controlplane.Passing(err) || ctx.Err() != nil {
			break
		}
	}
	if t.mistakes.any() {
		t.schedule.within(t.options.Interval)
	}
	return failed
}

// begin takes the news.
func (t *Trigger) begin() {
	got := t.inbox.take()
	t.again = false
	t.schedule.begin()
	t.applications.begin(got.applications)
	for _, id := range got.ended {
		t.mistakes.doubt(t.applications.find(id))
		delete(t.settled, id)
		if t.underway[id]--; t.underway[id] <= 0 { // that of an earlier piped was not counted
			delete(t.underway, id)
		}
	}
	if len(got.ended) > 0 && len(t.removals.waits) > 0 {
		t.applications.expire() // the list says which others are deployed
	}
	if got.newCommands {
		t.commands.replace(got.commands)
	}
	t.snapshots = map[string]snapshot{}
	for id, r := range t.repositories {
		t.snapshots[id] = r.snapshot()
	}
}

// refresh lists the applications when they have changed, or when a command names one that is not known.
func (t *Trigger) refresh(ctx context.Context) error {
	for command := range t.commands.open() {
		if t.applications.find(requestOf(command).application) == nil {
			t.applications.expire()
		}
	}
	return t.applications.refresh(ctx)
}

// listed forgets the applications that are gone, and has the repositories read the configuration files of those that
// are listed.
func (t *Trigger) listed() {
	exists := func(application string) bool { return t.applications.find(application) != nil }
	t.history.keep(exists)
	t.mistakes.keep(exists)
	maps.DeleteFunc(t.settled, func(application string, _ bool) bool { return !exists(application) })
	maps.DeleteFunc(t.underway, func(application string, _ int) bool { return !exists(application) })
	t.removals.keep(exists)
	for _, a := range t.applications.list {
		if r := t.repositories[a.GetGitPath().GetRepo().GetId()]; r != nil {
			r.include(configFileOf(a))
		}
	}
}

// onCommit creates a deployment when the branch has moved in a way that matters to the application.
func (t *Trigger) onCommit(ctx context.Context, c *candidate, diffs diffs) error {
	if c.err != nil || c.deployed {
		return nil
	}
	head := c.snapshot.head.Hash
	previous, err := t.history.previous(ctx, c.application)
	if err != nil {
		return err
	}
	changed := func() ([]string, error) { return diffs.between(ctx, c.repository, previous, head) }
	reason, isDue, err := due.OnCommit(
		c.config.Trigger.OnCommit, c.application.GetGitPath().GetPath(), previous, head, changed,
	)
	if err != nil {
		return fmt.Errorf("decide whether application %s is deployed: %w", c.application.GetName(), err)
	}
	if !isDue {
		t.history.looked(c.application, head)
		return nil
	}
	return t.create(ctx, c, cause{
		kind: onCommit, id: uuid.NewString(), log: reason,
		notes: supersede.Notes(c.config.Trigger.OnNewCommit),
	})
}

// onOutOfSync creates a deployment when drift was seen and the application wants that.
func (t *Trigger) onOutOfSync(ctx context.Context, c *candidate) error {
	if c.err != nil || c.config.Trigger.OnOutOfSync.Disabled {
		return nil
	}
	t.schedule.within(t.options.Interval)
	state := c.application.GetSyncState()
	if c.deployed || state.GetStatus() != model.ApplicationSyncStatus_OUT_OF_SYNC {
		return nil
	}
	last, err := t.history.lastDeployment(ctx, c.application)
	if err != nil {
		return err
	}
	now := t.options.Clock.Now()
	due, later := dueOnOutOfSync(c.config.Trigger.OnOutOfSync, state, last, now)
	if !later.IsZero() {
		t.schedule.within(max(later.Sub(now), time.Second))
	}
	if !due {
		return nil
	}
	return t.create(ctx, c, cause{
		kind: onOutOfSync, id: uuid.NewString(), log: "it is out of sync",
		strategy: model.SyncStrategy_QUICK_SYNC, why: "Quick sync to undo the drift from the configuration in Git",
	})
}

// diffs holds what was compared in this pass: many applications of a repository come from one commit.
type diffs map[[3]string][]string

func (d diffs) between(ctx context.Context, r *repository, from, to string) ([]string, error) {
	key := [3]string{r.git.ID(), from, to}
	if files, known := d[key]; known {
		return files, nil
	}
	files, err := r.git.ChangedFiles(ctx, from, to)
	if err == nil {
		d[key] = files
	}
	return files, err
}

// each goes on after an error, unless the control plane cannot be reached.
func each(candidates []*candidate, do func(*candidate) error) error {
	var failed error
	for _, c := range candidates {
		err := do(c)
		failed = errors.Join(err, failed) // the newest first, for the callers that look for its code
		if controlplane.Passing(err) {
			break
		}
	}
	return failed
}
