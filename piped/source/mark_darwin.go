// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package source

import "syscall"

func markOf(path string) (mark, error) {
	var status syscall.Stat_t
	err := syscall.Lstat(path, &status)
	for err == syscall.EINTR {
		err = syscall.Lstat(path, &status)
	}
	return mark{
		mode: uint32(status.Mode), size: status.Size, modified: status.Mtimespec.Nano(),
		changed: status.Ctimespec.Nano(), inode: status.Ino,
	}, err
}
