// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"os"

	"golang.org/x/sys/unix"
)

// sharedMemory returns two descriptors of a file without a name of a size in bytes: one for piped, one that a plugin
// inherits and maps. The system provides the parts that are written to.
func sharedMemory(name string, size int64) (ours, theirs *os.File, err error) {
	ours, err = os.CreateTemp("", "pipedeck-*")
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			_ = ours.Close()
		}
	}()
	if err := os.Remove(ours.Name()); err != nil {
		return nil, nil, err
	}
	if err := ours.Truncate(size); err != nil {
		return nil, nil, err
	}
	other, err := unix.FcntlInt(ours.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("fcntl", err)
	}
	return ours, os.NewFile(uintptr(other), name), nil
}
