// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"fmt"
	"strings"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/clip"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/system/clock"
)

// maxStackText bounds the stack in a stage log, in bytes.
const maxStackText = 8 << 10

// awaitCleanup gives a plugin time to end a stage that was stopped, and then ends its process: neither a rollback nor
// anything else may run next to a stage that is over. A plugin completes the log of such a stage when it has ended; its
// call has returned before. A process that a debugger holds is waited for. A
// stopping piped does not wait: it stops its plugins.
func (e *executor) awaitCleanup(ctx context.Context, stage *model.PipelineStage, taken *pluginhost.Taken) {
	for again := true; again; again = taken.Held() {
		wait, cancel := clock.WithTimeout(ctx, e.options.Clock, e.options.CleanupWait, context.DeadlineExceeded)
		ended := e.options.Stages.AwaitLog(wait, e.progress.id(), stage.GetId(), taken.Exited())
		cancel()
		if ended || ctx.Err() != nil {
			return
		}
	}
	why := fmt.Sprintf("stage %s went on for %s after it was stopped", word(stage), e.options.CleanupWait)
	e.reports.of(stage).Warn("a stage did not stop; the process of its plugin is ended")
	text := "The process of the plugin was ended, because " + why
	if stack := strings.Join(taken.Abandon(stage.GetId(), why), "\n"); stack != "" {
		text += ". It was here:\n" + clip.Bytes(stack, maxStackText)
	}
	e.reports.note(ctx, stage, afterPlugin, model.LogSeverity_ERROR, text)
}
