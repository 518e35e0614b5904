// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package processtree

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// kernelThread is PF_KTHREAD of the flags in /proc/PID/stat.
const kernelThread = 0x00200000

// processes lists all processes of the machine, or of the container that this process runs in.
func processes() ([]Process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var all []Process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := inspect(pid); ok {
			all = append(all, p)
		}
	}
	return all, nil
}

// inspect reads one process; ok is false when it is gone.
func inspect(pid int) (Process, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Process{}, false
	}
	// The name, in brackets, may hold anything; the fields after it begin with the third.
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return Process{}, false
	}
	fields := strings.Fields(string(stat[end+1:]))
	if len(fields) < 20 {
		return Process{}, false
	}
	number := func(field int) uint64 {
		n, _ := strconv.ParseUint(fields[field-3], 10, 64)
		return n
	}
	return Process{
		PID: pid, Name: string(stat[open+1 : end]),
		parent: int(number(4)), group: int(number(5)), session: int(number(6)), started: number(22),
		ended: fields[0] == "Z" || fields[0] == "X", kernel: number(9)&kernelThread != 0,
	}, true
}

// maxEnvironment bounds what is read of the environment of a process; the kernel allows less for most.
const maxEnvironment = 8 << 20

// carries reports whether the environment of a process names the tree. It is not known while a process starts a
// program, when the environment is empty for a moment.
func carries(pid int, token string) (marked, known bool) {
	file, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false, true // another user's, or gone
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxEnvironment))
	if err != nil {
		return false, true
	}
	return environmentNames(data, token), len(data) > 0
}

// handle is a descriptor of one process.
type handle struct {
	pid     int
	started uint64
	fd      int // -1 on kernels before 5.3
}

// openHandle returns ESRCH when the process has ended.
func openHandle(p Process) (handle, error) {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		fd, err = -1, nil
	}
	if err != nil {
		return handle{fd: -1}, err
	}
	h := handle{pid: p.PID, started: p.started, fd: fd}
	if !h.there() { // another process has the number
		h.close()
		return handle{fd: -1}, syscall.ESRCH
	}
	return h, nil
}

// there reports whether the process with the number is still the same one and has not ended.
func (h handle) there() bool {
	now, ok := inspect(h.pid)
	return ok && now.started == h.started && !now.ended
}

func (h handle) send(signal syscall.Signal) error {
	if h.fd >= 0 {
		return unix.PidfdSendSignal(h.fd, signal, nil, 0)
	}
	if !h.there() {
		return syscall.ESRCH
	}
	return syscall.Kill(h.pid, signal)
}

// pollSlice is how long a wait for the end of a process may outlast its context, in milliseconds.
const pollSlice = 20

// await returns true when the process has ended, false when ctx ends first.
func (h handle) await(ctx context.Context) bool {
	for {
		fds := []unix.PollFd{{Fd: int32(h.fd), Events: unix.POLLIN}} // a descriptor of -1 only waits
		_, _ = unix.Poll(fds, pollSlice)
		switch {
		case fds[0].Revents != 0, h.fd < 0 && !h.there():
			return true
		case ctx.Err() != nil:
			return false
		}
	}
}

func (h handle) close() {
	if h.fd >= 0 {
		_ = unix.Close(h.fd)
	}
}
