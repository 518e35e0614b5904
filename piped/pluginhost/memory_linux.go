// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// sharedMemory returns two descriptors of memory of a size in bytes, which no process can change: one for piped, one
// that a plugin inherits. The system provides the parts that are written to.
func sharedMemory(name string, size int64) (ours, theirs *os.File, err error) {
	fd, err := unix.MemfdCreate("pipedeck "+name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, nil, os.NewSyscallError("memfd_create", err)
	}
	ours = os.NewFile(uintptr(fd), name)
	defer func() {
		if err != nil {
			_ = ours.Close()
		}
	}()
	if err := ours.Truncate(size); err != nil {
		return nil, nil, err
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW); err != nil {
		return nil, nil, fmt.Errorf("fix the size of shared memory: %w", err)
	}
	other, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("fcntl", err)
	}
	return ours, os.NewFile(uintptr(other), name), nil
}
