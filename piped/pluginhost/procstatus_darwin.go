// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import "golang.org/x/sys/unix"

// flagTraced and stateStopped are P_TRACED and SSTOP of the system's proc.h.
const (
	flagTraced   = 0x800
	stateStopped = 4
)

// stoppedBySignal completes a message about a process that does not answer because it is stopped.
func stoppedBySignal(pid int) string {
	if info, err := unix.SysctlKinfoProc("kern.proc.pid", pid); err == nil && info.Proc.P_stat == stateStopped {
		return "; it was stopped by a signal (SIGSTOP)"
	}
	return ""
}
