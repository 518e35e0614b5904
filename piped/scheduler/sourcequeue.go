// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/piped/removal"
	"github.com/pipedeck/pipedeck/piped/source"
)

// sourcePair is what one stage gets: its own directories, at the target commit and at the running one
// (nil on a first deployment). In a removal the latter is the head of the branch: what other applications have there
// is not deleted.
type sourcePair struct {
	target, running *source.Source
	use             deployment.SourceUse // what of them has a directory
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
// are asked for, unless much else is to do.
type sourceQueue struct {
	sources         Sources
	target, running source.Wanted // running names no commit on a first deployment
	removes         bool          // the deployment is a removal

	mu sync.Mutex
	// pairs are those that no one has taken, each prepared or on its way.
	pairs []pairAhead
}

// pairAhead is a pair for a stage that inspects these directories.
type pairAhead struct {
	use  deployment.SourceUse
	next chan preparedPair
}

type preparedPair struct {
	pair *sourcePair
	err  error
}

func newSourceQueue(sources Sources, d *model.Deployment) *sourceQueue {
	// A copy, because stages change the deployment while sources are prepared.
	of := &model.Deployment{
		Id:              d.GetId(),
		ApplicationId:   d.GetApplicationId(),
		ApplicationName: d.GetApplicationName(),
		GitPath:         d.GetGitPath(),
	}
	return &sourceQueue{
		sources: sources,
		removes: removal.Is(d),
		target:  source.Wanted{Deployment: of, Commit: d.GetTrigger().GetCommit().GetHash()},
		running: source.Wanted{
			Deployment:     of,
			Commit:         d.GetRunningCommitHash(),
			ConfigFilename: d.GetRunningConfigFilename(),
		},
	}
}

// take returns a prepared pair, preparing it now when no one did before. The caller closes it. It waits
// no longer than work; the preparation goes on then, for the stages of a rollback.
func (q *sourceQueue) take(ctx, work context.Context, use deployment.SourceUse) (*sourcePair, error) {
	q.mu.Lock()
	// The values are in order, the most first.
	i := slices.IndexFunc(q.pairs, func(p pairAhead) bool { return p.use <= use })
	if i < 0 {
		i = len(q.pairs)
		q.pairs = append(q.pairs, q.begin(ctx, use, false))
	}
	next := q.pairs[i]
	q.pairs = slices.Delete(q.pairs, i, i+1)
	q.mu.Unlock()
	select {
	case prepared := <-next.next:
		if errors.Is(prepared.err, source.ErrBusy) {
			return q.take(ctx, work, use)
		}
		return prepared.pair, prepared.err
	case <-work.Done():
		q.mu.Lock()
		q.pairs = append(q.pairs, next)
		q.mu.Unlock()
		return nil, context.Cause(work)
	}
}

// prefetch starts preparing a pair unless one is ahead.
func (q *sourceQueue) prefetch(ctx context.Context, use deployment.SourceUse) {
	if use == deployment.SourceUse_SOURCE_USE_NONE || q.removes {
		return // there is next to nothing to prepare, or the head may move until the stage begins
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.pairs) == 0 {
		q.pairs = append(q.pairs, q.begin(ctx, use, true))
	}
}

// begin prepares a pair; close waits for it unless it was taken.
func (q *sourceQueue) begin(ctx context.Context, use deployment.SourceUse, ahead bool) pairAhead {
	next := make(chan preparedPair, 1)
	go func() {
		pair, err := q.preparePair(ctx, use, ahead)
		next <- preparedPair{pair, err}
	}()
	return pairAhead{use, next}
}

// close waits for preparations under way and removes what was not taken.
func (q *sourceQueue) close() {
	q.mu.Lock()
	pairs := q.pairs
	q.pairs = nil
	q.mu.Unlock()
	for _, ahead := range pairs {
		if prepared := <-ahead.next; prepared.pair != nil {
			prepared.pair.close()
		}
	}
}

// head is the repository for a removal. An application that has come back since the removal was planned is not removed.
func (q *sourceQueue) head(ctx context.Context, d *model.Deployment) (*source.Source, error) {
	head, err := q.sources.Head(ctx, d)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(head.ApplicationDirectory, head.ConfigFilename)
	if _, err := os.Lstat(file); err == nil && filepath.IsAbs(file) {
		return nil, errors.Join(fmt.Errorf("%s is in Git again at commit %.7s, so that nothing of it is deleted",
			d.GetApplicationName(), head.Commit), head.Close())
	}
	return head, nil
}

func (q *sourceQueue) preparePair(ctx context.Context, use deployment.SourceUse, ahead bool) (*sourcePair, error) {
	ofTarget, ofRunning := q.sources.Prepare, q.sources.Prepare
	switch use {
	case deployment.SourceUse_SOURCE_USE_NONE:
		ofTarget, ofRunning = q.sources.Describe, q.sources.Describe
	case deployment.SourceUse_SOURCE_USE_TARGET:
		ofRunning = q.sources.Describe
	}
	target, running := q.target, q.running
	target.Ahead, running.Ahead = ahead, ahead
	pair := &sourcePair{use: use}
	var failed [2]error
	var both sync.WaitGroup
	both.Go(func() {
		pair.target, failed[0] = ofTarget(ctx, target)
	})
	switch {
	case q.removes && use == deployment.SourceUse_SOURCE_USE_UNSPECIFIED:
		both.Go(func() { pair.running, failed[1] = q.head(ctx, running.Deployment) })
	case running.Commit != "":
		both.Go(func() { pair.running, failed[1] = ofRunning(ctx, running) })
	}
	both.Wait()
	if err := errors.Join(failed[:]...); err != nil {
		pair.close()
		return nil, err
	}
	return pair, nil
}
