// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime/debug"
	"sync"

	"k8s.io/klog/v2"
)

// startMemory bounds the heap while garbage is not collected, in bytes: beyond it the collector runs all the same. What
// stays lies scattered between garbage, so that more would cost memory for as long as the cluster runs.
const startMemory = 240 << 20

// withoutGarbageCollection lets garbage lie until collect is called. Starting Kubernetes allocates a lot, most of it to
// stay; marking it again and again would take about a third of the start-up's processor time.
func withoutGarbageCollection() (collect func()) {
	percent := debug.SetGCPercent(-1)
	limit := debug.SetMemoryLimit(startMemory)
	if limit < startMemory { // GOMEMLIMIT asks for less
		debug.SetMemoryLimit(limit)
	}
	return sync.OnceFunc(func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
}

// returnMemory gives the system back what is not needed now.
func returnMemory() {
	debug.FreeOSMemory()
	if err := returnProgramPages(); err != nil {
		klog.ErrorS(err, "Memory of the program stays in use")
	}
}
