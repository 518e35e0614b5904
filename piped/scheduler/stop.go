// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"errors"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/pluginservice"
)

// tellWhy gives a context for the call of a stage that ends with the attempt's, after the reason has been left
// for the plugin to read: the plugin learns of the end by that of the call. ctx is piped's.
func (r *run) tellWhy(ctx, call context.Context, stage *model.PipelineStage) (told context.Context, hangUp func()) {
	told, end := context.WithCancel(context.WithoutCancel(call))
	stop := context.AfterFunc(call, func() {
		why, words := stopOf(ctx, context.Cause(call))
		r.options.Registry.NoteStop(r.deployment.GetId(), stage.GetId(), why, words)
		end()
	})
	return told, func() {
		stop()
		end()
	}
}

func stopOf(ctx context.Context, cause error) (pluginservice.Stop, string) {
	var timeout *TimeoutError
	var halted *haltedError
	switch {
	case ctx.Err() != nil:
		return pluginservice.StopPiped, "piped is stopping"
	case errors.As(cause, &timeout):
		return pluginservice.StopTimeout, timeout.Error()
	case errors.As(cause, &halted):
		return pluginservice.StopHalted, halted.Error()
	default:
		return pluginservice.StopCancelled, cause.Error()
	}
}
