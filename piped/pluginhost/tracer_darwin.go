// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import "golang.org/x/sys/unix"

// tracedBelow returns the process if a debugger holds it, and the debugger, which is its parent meanwhile; zeros for
// none. Stopped is set while the process stands still.
func tracedBelow(pid int) (held, by int, stopped bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || info.Proc.P_flag&flagTraced == 0 {
		return 0, 0, false
	}
	return pid, int(info.Eproc.Ppid), info.Proc.P_stat == stateStopped
}

// tracedItself is tracedBelow, which knows no more here.
func tracedItself(pid int) (held, by int, stopped bool) { return tracedBelow(pid) }

// processName is the name of a program that runs; empty when it has ended.
func processName(pid int) string {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return ""
	}
	return unix.ByteSliceToString(info.Proc.P_comm[:])
}
