// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"bytes"
	"os"
	"slices"
	"strconv"
)

// Fields of /proc/PID/stat behind the command.
const (
	statParent  = 1
	statSession = 3
)

// processes are the numbers of all processes that the system shows.
func processes() (pids []int) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// membersOf are the processes of containers: those in their process groups and sessions, those that descend from them,
// and those that carry their mark.
func membersOf(all []*Process) (members []int) {
	in, children, marks := map[int]bool{}, map[int][]int{}, map[string]bool{}
	for _, p := range all {
		marks[p.spec.Mark] = p.spec.Mark != ""
	}
	pids := processes()
	for _, pid := range pids {
		parent, group, session, ok := familyOf(pid)
		if !ok {
			continue
		}
		children[parent] = append(children[parent], pid)
		in[pid] = slices.ContainsFunc(all, func(p *Process) bool {
			return pid == p.PID || group == p.PID || session == p.PID
		}) || hasMark(pid, marks)
	}
	for _, pid := range pids {
		if in[pid] {
			members = append(members, pid)
		}
	}
	for i := 0; i < len(members); i++ {
		for _, child := range children[members[i]] {
			if !in[child] {
				in[child] = true
				members = append(members, child)
			}
		}
	}
	return members
}

// familyOf returns the parent, the process group and the session of a process that has not ended.
func familyOf(pid int) (parent, group, session int, ok bool) {
	stat, err := os.ReadFile(procFile(pid, "stat"))
	if err != nil {
		return 0, 0, 0, false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= statSession || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return 0, 0, 0, false
	}
	number := func(field int) int {
		value, _ := strconv.Atoi(string(fields[field]))
		return value
	}
	return number(statParent), number(statGroup), number(statSession), true
}

// endMarked ends the processes that carry one of the marks.
func endMarked(marks map[string]bool) {
	if len(marks) == 0 {
		return
	}
	for range markRounds {
		found := false
		for _, pid := range processes() {
			process, err := os.FindProcess(pid) // before the look, so that the number cannot become another process's
			if err != nil {
				continue
			}
			if hasMark(pid, marks) && process.Kill() == nil {
				found = true
			}
			_ = process.Release()
		}
		if !found {
			return
		}
	}
}

// hasMark reports whether a process has one of the marks in the environment with which it was started.
func hasMark(pid int, marks map[string]bool) bool {
	environment, err := os.ReadFile(procFile(pid, "environ"))
	if err != nil {
		return false
	}
	for entry := range bytes.SplitSeq(environment, []byte{0}) {
		if mark, ok := bytes.CutPrefix(entry, []byte(MarkVariable+"=")); ok && marks[string(mark)] {
			return true
		}
	}
	return false
}
