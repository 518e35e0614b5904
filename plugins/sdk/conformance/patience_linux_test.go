// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

// Two programs want the same processor, so that each of them waits for it half of the time.
func TestTheWaitForAProcessorIsNoPartOfABound(t *testing.T) {
	t.Parallel()
	s := &suite{}
	var both []*process
	for range 2 {
		p, err := s.spawn(launch{path: "/bin/sh", args: []string{"-c", "while :; do :; done"}, dir: t.TempDir()})
		require.NoError(t, err)
		t.Cleanup(p.kill)
		pin(t, p.command.Process.Pid)
		both = append(both, p)
	}
	const limit = time.Second
	began := time.Now()
	require.False(t, both[0].wait(t.Context(), limit), "it goes on for ever")
	require.GreaterOrEqual(t, time.Since(began), limit*5/4)

	both[1].kill()
	require.True(t, both[1].wait(t.Context(), limit))
}

// pin has a process run on the first processor that it may use.
func pin(t *testing.T, pid int) {
	t.Helper()
	var mask [16]uint64
	_, _, failed := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(mask),
		uintptr(unsafe.Pointer(&mask)))
	require.Equal(t, syscall.Errno(0), failed)
	for i, word := range mask {
		if word != 0 {
			mask = [16]uint64{}
			mask[i] = word & -word
			break
		}
	}
	_, _, failed = syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(pid), unsafe.Sizeof(mask),
		uintptr(unsafe.Pointer(&mask)))
	require.Equal(t, syscall.Errno(0), failed)
}
