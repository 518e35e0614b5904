// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package processtree

import (
	"context"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stateZombie is SZOMB of the system's proc.h.
const stateZombie = 5

// processes lists all processes of the machine.
func processes() ([]Process, error) {
	found, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	var all []Process
	for i := range found {
		all = append(all, read(&found[i]))
	}
	return all, nil
}

func read(info *unix.KinfoProc) Process {
	at := info.Proc.P_starttime
	return Process{
		PID: int(info.Proc.P_pid), Name: unix.ByteSliceToString(info.Proc.P_comm[:]),
		parent: int(info.Eproc.Ppid), group: int(info.Eproc.Pgid),
		started: uint64(at.Sec)*1_000_000 + uint64(at.Usec),
		ended:   info.Proc.P_stat == stateZombie, kernel: info.Proc.P_pid == 0,
	}
}

// carries reports whether the environment of a process names the tree. The system hides the environment of its
// programs and of other users' processes.
func carries(pid int, token string) (marked, known bool) {
	data, err := unix.SysctlRaw("kern.procargs2", pid)
	return err == nil && environmentNames(data, token), true
}

// handle is the number and start time of one process.
type handle struct{ process Process }

func openHandle(p Process) (handle, error) {
	h := handle{p}
	if !h.there() {
		return h, syscall.ESRCH
	}
	return h, nil
}

func (h handle) there() bool {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", h.process.PID)
	if err != nil {
		return false
	}
	now := read(info)
	return now.same(h.process) && !now.ended
}

func (h handle) send(signal syscall.Signal) error {
	if !h.there() {
		return syscall.ESRCH
	}
	return syscall.Kill(h.process.PID, signal)
}

// awaitPause is the time between two looks at a process that has to end.
const awaitPause = 20 * time.Millisecond

// await returns true when the process has ended, false when ctx ends first.
func (h handle) await(ctx context.Context) bool {
	for h.there() {
		if ctx.Err() != nil {
			return false
		}
		time.Sleep(awaitPause)
	}
	return true
}

func (handle) close() {}
