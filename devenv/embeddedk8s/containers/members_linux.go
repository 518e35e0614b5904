// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"time"
)

// Fields of /proc/PID/stat behind the command.
const (
	statParent  = 1
	statSession = 3
	statFlags   = 6
	flagKernel  = 0x00200000 // of a thread of the kernel
)

// A process that starts a program has no environment for a moment; it is looked at again after a pause, a few times.
const (
	maxUnknowns  = 5
	unknownPause = time.Millisecond
	// markPatience bounds the wait for the end of processes that were killed.
	markPatience = time.Second
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
	fields, ok := statOf(pid)
	if !ok {
		return 0, 0, 0, false
	}
	number := func(field int) int {
		value, _ := strconv.Atoi(string(fields[field]))
		return value
	}
	return number(statParent), number(statGroup), number(statSession), true
}

// statOf are the fields of /proc/PID/stat behind the command; ok is false when the process has ended.
func statOf(pid int) (fields [][]byte, ok bool) {
	stat, err := os.ReadFile(procFile(pid, "stat"))
	if err != nil {
		return nil, false
	}
	fields = bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	return fields, len(fields) > statFlags && fields[0][0] != 'Z' && fields[0][0] != 'X'
}

// endMarked ends the processes that carry one of the marks.
func endMarked(marks map[string]bool) {
	if len(marks) == 0 {
		return
	}
	deadline := time.Now().Add(markPatience)
	for unknowns := 0; unknowns < maxUnknowns && time.Now().Before(deadline); {
		found, unknown := killMarked(marks)
		switch {
		case found: // it may have started others
		case unknown:
			unknowns++
			time.Sleep(unknownPause)
		default:
			return
		}
	}
}

// killMarked ends the processes that carry one of the marks now. It reports whether it found one, and whether there are
// processes of which that is not known: those that start a program.
func killMarked(marks map[string]bool) (found, unknown bool) {
	for _, pid := range processes() {
		process, err := os.FindProcess(pid) // before the look, so that the number cannot become another process's
		if err != nil {
			continue
		}
		marked, known := markOf(pid, marks)
		found = found || marked && process.Kill() == nil
		unknown = unknown || !known && !isKernels(pid)
		_ = process.Release()
	}
	return found, unknown
}

func hasMark(pid int, marks map[string]bool) bool {
	marked, _ := markOf(pid, marks)
	return marked
}

// markOf reports whether a process has one of the marks in the environment with which it was started. That is not known
// while it starts a program, when its environment is empty for a moment.
func markOf(pid int, marks map[string]bool) (marked, known bool) {
	environment, err := os.ReadFile(procFile(pid, "environ"))
	if err != nil {
		return false, true // of another user, or gone
	}
	for entry := range bytes.SplitSeq(environment, []byte{0}) {
		if mark, ok := bytes.CutPrefix(entry, []byte(MarkVariable+"=")); ok && marks[string(mark)] {
			return true, true
		}
	}
	return false, len(environment) > 0
}

// isKernels reports whether a process is a thread of the kernel, or has ended: these have no environment.
func isKernels(pid int) bool {
	fields, ok := statOf(pid)
	if !ok {
		return true
	}
	flags, _ := strconv.ParseUint(string(fields[statFlags]), 10, 64)
	return flags&flagKernel != 0
}
