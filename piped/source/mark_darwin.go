// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"io/fs"
	"syscall"
)

func markOf(info fs.FileInfo) mark {
	m := mark{mode: info.Mode(), size: info.Size(), modified: info.ModTime().UnixNano()}
	if status, ok := info.Sys().(*syscall.Stat_t); ok {
		m.changed = status.Ctimespec.Nano()
		m.inode = status.Ino
	}
	return m
}
