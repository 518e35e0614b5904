// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"github.com/pipedeck/pipedeck/system/clock"
)

// wakeUps and wakeUpPause are how often, and how far apart, this process wakes up to measure what that costs.
const (
	wakeUps     = 300
	wakeUpPause = 10 * time.Millisecond
)

// sayWakeUp prints the CPU time of a process that only wakes up. An environment at rest does little else, and on a
// virtual machine the same wake-up costs several times more while the host is busy.
func sayWakeUp(ctx context.Context) error {
	before := ownCPU()
	for range wakeUps {
		if err := clock.Wait(ctx, clock.System{}, wakeUpPause); err != nil {
			return err
		}
	}
	number("a wake-up of a process on this machine now", "µs of CPU",
		float64((ownCPU()-before).Microseconds())/wakeUps)
	return nil
}
