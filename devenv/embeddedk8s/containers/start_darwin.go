// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import "golang.org/x/sys/unix"

// stateZombie is SZOMB of the system's proc.h.
const stateZombie = 5

// startOf returns when a process was started, in microseconds; ok is false when it has ended.
func startOf(pid int) (started uint64, ok bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || info.Proc.P_stat == stateZombie {
		return 0, false
	}
	at := info.Proc.P_starttime
	return uint64(at.Sec)*1_000_000 + uint64(at.Usec), true
}
