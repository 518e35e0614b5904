// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/system/plainerror"
)

// lookAt makes one look and plans the next.
func (r *Reporter) lookAt(ctx context.Context, l *oneLook) {
	a := l.application
	r.mu.Lock()
	m, failures := a.model, a.failures
	r.mu.Unlock()
	ended := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() { r.watchSlow(l, ended) })
	wait, err := r.lookFor(ctx, l, m, failures)
	r.mu.Lock()
	close(ended)
	r.end(l, err)
	if ctx.Err() == nil {
		r.plan(a, m, wait, err)
	}
	r.mu.Unlock()
	watch.Wait()
}

// lookFor makes one look, and reports that the state is not known when it could not be read several times.
func (r *Reporter) lookFor(ctx context.Context, l *oneLook, m *model.Application, failures int) (time.Duration, error) {
	a := l.application
	since := func() reported {
		r.mu.Lock()
		defer r.mu.Unlock()
		return a.reported
	}
	// Those who are asked do not get to know this deadline: one that they report is another one.
	bounded, cancel := clock.WithTimeout(ctx, r.options.Clock, r.options.LookTimeout, errSlow)
	defer cancel()
	live, wait, err := r.look(bounded, m, since, l.fresh)
	if err != nil && errors.Is(context.Cause(bounded), errSlow) && ctx.Err() == nil {
		err = unreadableError{r.tooSlow()}
	}
	if live != nil {
		a.live = live
	}
	_, unreadable := errors.AsType[unreadableError](err)
	if unreadable && (failures+1 >= doubtAfter || errors.Is(err, errSlow)) {
		err = errors.Join(err, r.doubt(ctx, a, m, err, since))
	}
	return wait, err
}

// plan plans the next look. It is called with mu held.
func (r *Reporter) plan(a *application, m *model.Application, wait time.Duration, err error) {
	if err == nil || errors.Is(err, errNoLivestate) || errors.Is(err, errNotDeployed) {
		a.failures, a.logged = 0, ""
		if wait > 0 {
			a.due = r.options.Clock.Now().Add(spread(wait))
		}
		return
	}
	a.failures++
	a.due = r.options.Clock.Now().Add(clock.Pause(firstPause, longestPause, a.failures))
	if a.logged != err.Error() {
		a.logged = err.Error()
		r.logger.Warn(
			"piped cannot read the live state of an application; it retries", "application", m.GetName(), "error",
			plainerror.Text(err),
		)
	}
}

// tooSlow says that a look took too long.
func (r *Reporter) tooSlow() error {
	return fmt.Errorf("%w: it was given %s", errSlow, r.options.LookTimeout)
}
