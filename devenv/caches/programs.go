// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"context"

	"github.com/shirou/gopsutil/v4/process"
)

// RunningPrograms returns the executable files of the processes that this user may look at.
func RunningPrograms(ctx context.Context) ([]string, error) {
	all, err := process.ProcessesWithContext(ctx)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, p := range all {
		// A process that has ended, or belongs to another user, has none.
		if path, err := p.ExeWithContext(ctx); err == nil && path != "" {
			paths = append(paths, path)
		}
	}
	return paths, nil
}
