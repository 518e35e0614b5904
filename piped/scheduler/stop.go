// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"errors"
	"time"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/piped/pluginservice"
)

// beginWait is how long a call may take to reach a plugin that does not say that it has begun with it.
const beginWait = time.Second

// announceStop returns a context for the call of a stage that ends with the attempt's, after the reason has been left
// for the plugin to read: the plugin learns of the end by that of the call. It ends no sooner than the plugin has begun
// with the stage, because no one could say afterwards whether it has. ctx is piped's.
func (e *executor) announceStop(
	ctx, call context.Context, stage *model.PipelineStage, taken *pluginhost.Taken,
) (sent context.Context, hangUp func()) {
	begun, over := e.options.Clock.After(beginWait), make(chan struct{})
	sent, end := context.WithCancel(context.WithoutCancel(call))
	stop := context.AfterFunc(call, func() {
		why, words := stopOf(ctx, context.Cause(call))
		e.options.Stages.NoteStop(e.progress.id(), stage.GetId(), why, words)
		select {
		case <-taken.Begun():
		case <-begun: // it does not say so
		case <-ctx.Done():
		case <-over:
		}
		end()
	})
	return sent, func() {
		stop()
		close(over)
		end()
	}
}

func stopOf(ctx context.Context, cause error) (pluginservice.Stop, string) {
	var timeout *TimeoutError
	var halted *haltedError
	switch {
	case ctx.Err() != nil:
		return pluginservice.StopPiped, "piped stops; the stage goes on as its next attempt when piped runs again"
	case errors.As(cause, &timeout):
		return pluginservice.StopTimeout, timeout.Error()
	case errors.As(cause, &halted):
		return pluginservice.StopHalted, halted.Error()
	default:
		return pluginservice.StopCancelled, cause.Error()
	}
}
