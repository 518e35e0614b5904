// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// startTime is when this process was started; now when that cannot be found out. It is earlier than the first statement
// of main by the time that initialising the Kubernetes packages takes.
func startTime(now time.Time) time.Time {
	process, err := unix.SysctlKinfoProc("kern.proc.pid", os.Getpid())
	if err != nil {
		return now
	}
	started := time.Unix(process.Proc.P_starttime.Unix())
	if started.After(now) {
		return now
	}
	return started
}
