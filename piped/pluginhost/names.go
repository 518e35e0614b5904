// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"slices"
)

// Named returns the named plugins in configuration order, once they run or have failed their first start. The errors
// are UnknownPluginError and that of ctx.
func (h *Host) Named(ctx context.Context, names ...string) ([]*Plugin, error) {
	for _, name := range names {
		if _, err := h.Plugin(name); err != nil {
			return nil, err
		}
	}
	if err := h.Settled(ctx, names...); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(h.Plugins(), func(p *Plugin) bool { return !slices.Contains(names, p.Name()) }), nil
}
