// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "time"

const (
	// connectPause is how long a view waits before it looks for the next host.
	connectPause = 50 * time.Millisecond
	// steadyPause is the time between two of the continuous commits.
	steadyPause = 500 * time.Millisecond
	// jitter bounds the random time between reaching a moment and the kill.
	jitter = 400 * time.Millisecond
	// planningTime bounds the random time between a commit and the kill that is to meet its planning.
	planningTime = 25 * time.Millisecond
	// degradedWithin bounds the time from a cause to the exit code of status that shows it.
	degradedWithin = 15 * time.Second
	// endsWithin bounds the time from the end of an environment to that of its last process.
	endsWithin = 10 * time.Second
)
