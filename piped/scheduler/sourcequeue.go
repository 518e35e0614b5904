// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"errors"
	"sync"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/piped/planner"
)

// sourcePair is what one stage gets: directories of its own, at the target commit and at the running one
// (nil on a first deployment).
type sourcePair struct {
	target, running planner.Source
}

func (p *sourcePair) runningProto() *common.DeploymentSource {
	if p.running == nil {
		return nil
	}
	return p.running.Proto()
}

func (p *sourcePair) close() {
	if p.target != nil {
		_ = p.target.Close()
	}
	if p.running != nil {
		_ = p.running.Close()
	}
}

// sourceQueue prepares the directories of the next stage while the present one runs: one pair ahead.
type sourceQueue struct {
	prepare    planner.Prepare
	deployment *model.Deployment
	target     string
	running    string
	filename   string

	mu   sync.Mutex
	next chan preparedPair
}

type preparedPair struct {
	pair *sourcePair
	err  error
}

func newSourceQueue(prepare planner.Prepare, d *model.Deployment) *sourceQueue {
	return &sourceQueue{
		prepare:    prepare,
		deployment: &model.Deployment{Id: d.GetId(), ApplicationId: d.GetApplicationId(), ApplicationName: d.GetApplicationName(), GitPath: d.GetGitPath()},
		target:     d.GetTrigger().GetCommit().GetHash(),
		running:    d.GetRunningCommitHash(),
		filename:   d.GetRunningConfigFilename(),
	}
}

// take returns the prepared pair, preparing it now when nobody did before. The caller closes it. It waits
// no longer than work; the preparation goes on then, for the stages of a rollback.
func (q *sourceQueue) take(ctx, work context.Context) (*sourcePair, error) {
	q.prefetch(ctx)
	q.mu.Lock()
	next := q.next
	q.next = nil
	q.mu.Unlock()
	select {
	case prepared := <-next:
		return prepared.pair, prepared.err
	case <-work.Done():
		q.mu.Lock()
		q.next = next
		q.mu.Unlock()
		return nil, context.Cause(work)
	}
}

// prefetch starts preparing a pair unless one is on its way.
func (q *sourceQueue) prefetch(ctx context.Context) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.next != nil {
		return
	}
	next := make(chan preparedPair, 1)
	q.next = next
	go func() {
		pair, err := q.preparePair(ctx)
		next <- preparedPair{pair, err}
	}()
}

// close waits for a preparation under way and removes what was not taken.
func (q *sourceQueue) close() {
	q.mu.Lock()
	next := q.next
	q.next = nil
	q.mu.Unlock()
	if next == nil {
		return
	}
	if prepared := <-next; prepared.pair != nil {
		prepared.pair.close()
	}
}

func (q *sourceQueue) preparePair(ctx context.Context) (*sourcePair, error) {
	pair := &sourcePair{}
	var failed [2]error
	var both sync.WaitGroup
	both.Go(func() {
		source, err := q.prepare(ctx, q.deployment, q.target, "")
		if failed[0] = err; err == nil {
			pair.target = source
		}
	})
	if q.running != "" {
		both.Go(func() {
			source, err := q.prepare(ctx, q.deployment, q.running, q.filename)
			if failed[1] = err; err == nil {
				pair.running = source
			}
		})
	}
	both.Wait()
	if err := errors.Join(failed[:]...); err != nil {
		pair.close()
		return nil, err
	}
	return pair, nil
}
