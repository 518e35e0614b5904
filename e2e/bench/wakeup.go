// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"syscall"
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
	before, err := ownCPU()
	if err != nil {
		return err
	}
	for range wakeUps {
		if err := clock.Wait(ctx, clock.System{}, wakeUpPause); err != nil {
			return err
		}
	}
	after, err := ownCPU()
	if err != nil {
		return err
	}
	number("a wake-up of a process on this machine now", "µs of CPU", float64((after-before).Microseconds())/wakeUps)
	return nil
}

// ownCPU is the CPU time that this process has used.
func ownCPU() (time.Duration, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, fmt.Errorf("read the CPU time of this process: %w", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}
