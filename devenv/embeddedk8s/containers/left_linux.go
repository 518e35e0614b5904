// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"os"
	"strconv"
	"time"
)

// Fields of /proc/PID/stat behind the command.
const statStarted = 19

// sessionOf is the session of a process; 0 when the process has ended, or when the session began outside of this PID
// namespace, as in a container that a program of the host has entered.
func sessionOf(pid int) int {
	_, _, session, _ := familyOf(pid)
	return session
}

// endOthers ends what is left of a process group whose first process has ended. The system gives the number to no other
// process while the group is there. A group that another process has made under the same number meanwhile is recognised
// by its session, or by that process.
func (r record) endOthers() {
	if _, there := statOf(r.PID); there {
		return
	}
	deadline := time.Now().Add(markPatience)
	for found := true; found && time.Now().Before(deadline); {
		found = false
		for _, pid := range processes() {
			process, err := os.FindProcess(pid) // before the look, so that the number cannot become another process's
			if err != nil {
				continue
			}
			if r.hasMember(pid) {
				found = process.Kill() == nil || found
			}
			_ = process.Release()
		}
	}
}

// hasMember reports whether a process is in the recorded group.
func (r record) hasMember(pid int) bool {
	fields, ok := statOf(pid)
	if !ok || len(fields) <= statStarted {
		return false
	}
	number := func(field int) uint64 {
		value, _ := strconv.ParseUint(string(fields[field]), 10, 64)
		return value
	}
	return number(statGroup) == uint64(r.PID) && number(statSession) == uint64(r.Session) &&
		number(statStarted) >= r.Started
}
