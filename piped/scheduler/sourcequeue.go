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

// sourceQueue prepares the directories of the next stage while others run: one pair ahead of those that
// are asked for.
type sourceQueue struct {
	prepare    planner.Prepare
	deployment *model.Deployment
	target     string
	running    string
	filename   string

	mu sync.Mutex
	// ahead are pairs that nobody has taken, each prepared or on its way.
	ahead []chan preparedPair
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
	q.mu.Lock()
	if len(q.ahead) == 0 {
		q.ahead = append(q.ahead, q.begin(ctx))
	}
	next := q.ahead[0]
	q.ahead = q.ahead[1:]
	q.mu.Unlock()
	select {
	case prepared := <-next:
		return prepared.pair, prepared.err
	case <-work.Done():
		q.mu.Lock()
		q.ahead = append(q.ahead, next)
		q.mu.Unlock()
		return nil, context.Cause(work)
	}
}

// prefetch starts preparing a pair unless one is ahead.
func (q *sourceQueue) prefetch(ctx context.Context) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.ahead) == 0 {
		q.ahead = append(q.ahead, q.begin(ctx))
	}
}

// begin prepares a pair; close waits for it unless it was taken.
func (q *sourceQueue) begin(ctx context.Context) chan preparedPair {
	next := make(chan preparedPair, 1)
	go func() {
		pair, err := q.preparePair(ctx)
		next <- preparedPair{pair, err}
	}()
	return next
}

// close waits for preparations under way and removes what was not taken.
func (q *sourceQueue) close() {
	q.mu.Lock()
	ahead := q.ahead
	q.ahead = nil
	q.mu.Unlock()
	for _, next := range ahead {
		if prepared := <-next; prepared.pair != nil {
			prepared.pair.close()
		}
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
