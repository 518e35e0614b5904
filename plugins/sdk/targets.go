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
// (1 is one after the other, in their order), and waits for all. The log tells of each target how it ended. One
// that fails does not stop the others; the error names each that failed. Targets that were not begun when ctx
// ended are not begun.
func ForEachTarget[Config, Target, App any](
	ctx context.Context,
	req *ExecuteRequest[Config, Target, App],
	limit int,
	work func(ctx context.Context, target DeployTarget[Target]) error,
) error {
	failed := make([]error, len(req.Targets))
	places := make(chan struct{}, max(limit, 1))
	var running sync.WaitGroup
	for i, target := range req.Targets {
		places <- struct{}{}
		if ctx.Err() != nil {
			failed[i] = fmt.Errorf("deploy target %s: not begun: %w", target.Name, StopCause(ctx))
			<-places
			continue
		}
		running.Go(func() {
			defer func() { <-places }()
			if err := atTarget(ctx, target, work); err != nil {
				failed[i] = fmt.Errorf("deploy target %s: %w", target.Name, err)
				// The whole error is logged when the stage ends with it.
				req.Log.Errorf("Deploy target %s: failed: %s", target.Name, headline(err))
				return
			}
			req.Log.Successf("Deploy target %s: done", target.Name)
		})
	}
	running.Wait()
	err := errors.Join(failed...)
	if err == nil {
		return nil
	}
	return fmt.Errorf("%d of %d deploy targets failed: %w", countErrors(failed), len(failed), err)
}

// At is the request as it is for one of its deploy targets alone; the lines of its log begin with the target's name.
func (r *ExecuteRequest[Config, Target, App]) At(target DeployTarget[Target]) *ExecuteRequest[Config, Target, App] {
	at := *r
	at.Targets = []DeployTarget[Target]{target}
	at.Log = r.Log.Prefixed("[" + target.Name + "] ")
	return &at
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
func atTarget[Target any](ctx context.Context, target DeployTarget[Target], work func(context.Context, DeployTarget[Target]) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	return work(ctx, target)
}
