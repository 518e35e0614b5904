// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ForEachTarget does the work of a stage at every deploy target of the request, at most limit at the same time
// (1 is one after the other, in their order), and waits for all. The log reports each target how it ended, and UIs
// show how it goes at each (TargetResults). One that fails does not stop the others. Targets that were not begun when
// ctx ended are not begun; their error is StopCause. The error names each target that failed. Where the application has
// one target only, it is the error of the work itself; a request that was narrowed to one of several targets names it.
func ForEachTarget[Config, Target, App any](
	ctx context.Context,
	req *ExecuteRequest[Config, Target, App],
	limit int,
	work func(ctx context.Context, target DeployTarget[Target]) error,
) error {
	failed := make([]error, len(req.Targets))
	results := &targetResults{client: req.Client}
	for _, target := range req.Targets {
		results.list = append(results.list, TargetResult{Name: target.Name, Status: "NOT_STARTED"})
	}
	places := make(chan struct{}, max(limit, 1))
	var running sync.WaitGroup
	for i, target := range req.Targets {
		places <- struct{}{}
		if ctx.Err() != nil {
			if failed[i] = StopCause(ctx); !req.oneTarget() {
				failed[i] = fmt.Errorf("deploy target %s: not begun: %w", target.Name, failed[i])
			}
			results.set(i, TargetResult{target.Name, "CANCELLED", StopCause(ctx).Error()})
			<-places
			continue
		}
		running.Go(func() {
			defer func() { <-places }()
			results.set(i, TargetResult{Name: target.Name, Status: "RUNNING"})
			if err := atTarget(ctx, target, work); err != nil {
				results.set(i, TargetResult{target.Name, "FAILURE", headlineOfTarget(err)})
				if failed[i] = err; !req.oneTarget() {
					failed[i] = fmt.Errorf("deploy target %s: %w", target.Name, err)
				}
				if len(failed) == 1 { // the whole error is logged when the stage ends with it
					req.Log.Errorf("Deploy target %s: failed", target.Name)
					return
				}
				req.Log.Errorf("Deploy target %s: failed: %s", target.Name, headline(err))
				return
			}
			results.set(i, TargetResult{Name: target.Name, Status: "SUCCESS"})
			req.Log.Successf("Deploy target %s: done", target.Name)
		})
	}
	running.Wait()
	if len(failed) == 1 {
		return failed[0]
	}
	err := errors.Join(failed...)
	if err == nil {
		return nil
	}
	return fmt.Errorf("%d of %d deploy targets failed: %w", countErrors(failed), len(failed), err)
}

// oneTarget reports whether the application has one deploy target only, so that no error has to name it.
func (r *ExecuteRequest[Config, Target, App]) oneTarget() bool {
	return max(r.ofApplication, len(r.Targets)) == 1
}

// At is the request as it is for one of its deploy targets alone; the lines of its log begin with the target's name.
func (r *ExecuteRequest[Config, Target, App]) At(target DeployTarget[Target]) *ExecuteRequest[Config, Target, App] {
	at := *r
	at.Targets = []DeployTarget[Target]{target}
	at.Log = r.Log.Prefixed("[" + target.Name + "] ")
	return &at
}

// targetResults reports several targets at once.
type targetResults struct {
	client StageClient

	mu   sync.Mutex
	list []TargetResult
}

// set reports all results, with a new one.
func (t *targetResults) set(i int, result TargetResult) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list[i] = result
	t.client.TargetResults(t.list)
}

func countErrors(list []error) (n int) {
	for _, err := range list {
		if err != nil {
			n++
		}
	}
	return n
}

// atTarget makes an error of a panic, which would end the process in a goroutine.
func atTarget[Target any](ctx context.Context, target DeployTarget[Target],
	work func(context.Context, DeployTarget[Target]) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	return work(ctx, target)
}
