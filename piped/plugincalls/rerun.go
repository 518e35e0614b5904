// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugincalls

import "context"

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

// reruns reports whether a plugin makes a call for a stage that is re-run: of its deployment, nothing else runs then.
// l.mu is held.
func (l *Log) reruns(e *entry) bool {
	for _, running := range l.stages {
		if running.rerun && e.deployment != "" && running.deployment == e.deployment {
			return true
		}
	}
	return false
}
