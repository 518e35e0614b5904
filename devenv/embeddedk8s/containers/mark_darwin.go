// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// endMarked does nothing: the system shows the environment of few programs. What is left is ended with the cluster.
func endMarked(map[string]bool) {}

// sessionOf is 0: the system does not show the session of a process.
func sessionOf(int) int { return 0 }

// endOthers ends what is left of a process group whose first process has ended.
func (r record) endOthers() {
	if _, there := startOf(r.PID); there {
		return
	}
	members, err := unix.SysctlKinfoProcSlice("kern.proc.pgrp", r.PID)
	if err != nil {
		return
	}
	for i := range members {
		pid := int(members[i].Proc.P_pid)
		if started, ok := startOf(pid); ok && started >= r.Started {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
