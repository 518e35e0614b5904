// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugincalls

import (
	"context"
	"slices"
)

type rerunKey struct{}

// WithRerun marks the calls to plugins that are made with the context as those of a re-run, which is no part of a
// deployment. began is called when a plugin gets such a call, with the beginning of the SHA-256 of its program.
func WithRerun(ctx context.Context, began func(plugin, build string)) context.Context {
	return context.WithValue(ctx, rerunKey{}, began)
}

func rerunOf(ctx context.Context) func(plugin, build string) {
	began, _ := ctx.Value(rerunKey{}).(func(plugin, build string))
	return began
}

// maxRerun bounds the deployments whose calls are known to be of re-runs. Plugins make their last calls soon after the
// end of a stage.
const maxRerun = 64

// noteRerun marks a call of a plugin that belongs to a re-run: the deployment has ended before, so that all its calls
// do. l.mu is held.
func (l *Log) noteRerun(e *entry) {
	at := slices.Index(l.rerun, e.deployment)
	if !executes(e.method) {
		e.rerun = at >= 0
		return
	}
	if at >= 0 {
		l.rerun = slices.Delete(l.rerun, at, at+1)
	}
	if e.rerun {
		l.rerun = append(l.rerun, e.deployment)
		l.rerun = l.rerun[max(0, len(l.rerun)-maxRerun):]
	}
}
