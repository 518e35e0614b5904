// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"slices"
)

type waitsKey struct{}

// WithWaits returns a context whose calls to plugins, and waits for their processes, begin with a call of begin with
// the name of the plugin, and end with a call of what it returns. Both return at once.
func WithWaits(ctx context.Context, begin func(plugin string) (end func())) context.Context {
	return context.WithValue(ctx, waitsKey{}, begin)
}

// waitsFor begins to wait for a plugin; empty for none. The caller calls end.
func waitsFor(ctx context.Context, plugin string) (end func()) {
	begin, ok := ctx.Value(waitsKey{}).(func(string) func())
	if !ok || plugin == "" {
		return func() {}
	}
	return begin(plugin)
}

// unsettled is the first of the named plugins, or of all, whose first start is not over; empty for none.
func (h *Host) unsettled(names ...string) string {
	for _, p := range h.plugins {
		if (len(names) == 0 || slices.Contains(names, p.Name())) && !p.condition.hasSettled() {
			return p.Name()
		}
	}
	return ""
}
