// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/recorder"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// cutShort is why a recording of an environment ended before the user wanted.
type cutShort struct {
	// missing is that as a clause; empty for a recording that is whole.
	missing string
	// failure is the error of the command; nil for none.
	failure error
}

// recordFor records an environment to a file until ctx ends, or for a time that is not 0. The time begins when the
// state of the environment is there, which takes longer on a busy machine. The file stays as it is when the environment
// ends before that.
func recordFor(ctx context.Context, w *workspace.Workspace, file *sessionFile,
	length time.Duration) (cutShort, error) {
	r := &recording{file: file, troubles: make(chan string, 1)}
	if length > 0 {
		// Without a deadline: the environment would hear of it, and end the recording with an error.
		var stop context.CancelFunc
		ctx, stop = context.WithCancel(ctx)
		defer stop()
		timer := time.AfterFunc(exportTimeout, stop)
		defer timer.Stop()
		r.synced = sync.OnceFunc(func() { timer.Reset(length) }) // not again in the next process of the environment
	}
	began := time.Now()
	r.begin(ctx, w)
	<-r.ended
	early, took := ctx.Err() == nil, time.Since(began)
	r.end()
	if r.session == nil {
		return cutShort{}, r.trouble
	}
	cut := r.cut(early, took, length)
	return cut, errors.Join(r.trouble, r.session.End(cut.missing))
}

// cut is how a recording was cut short. early: it ended by itself, after took. length is how long it was to be; 0 for
// as long as there is something to record.
func (r *recording) cut(early bool, took, length time.Duration) cutShort {
	w := r.workspace
	switch {
	case errors.Is(r.lost, errKilled):
		failure := checkRunning(w)
		if failure == nil { // it runs again
			failure = exit.With(exit.NotStarted, fmt.Errorf("environment %q: %w", w.Name, r.lost),
				"it was started again; record it again")
		}
		return cutShort{r.lost.Error(), failure}
	case errors.Is(r.lost, recorder.ErrLost):
		return cutShort{r.lost.Error(), exit.With(exit.NotStarted,
			fmt.Errorf("the connection to environment %q is lost", w.Name),
			"see how it is with: pipedeck status"+session.Flags(w))}
	case early && length > 0:
		missing := fmt.Sprintf("the environment ended after %s of %s", took.Round(time.Second), length)
		return cutShort{missing, exit.With(exit.NotStarted, fmt.Errorf("environment %q: %s", w.Name, missing),
			"start it with: "+session.StartCommand(w)+"; then record it again")}
	case early:
		return cutShort{missing: "the environment has ended"}
	}
	return cutShort{}
}
