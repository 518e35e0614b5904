// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// identity tells files, and states of one file, apart without reading them.
type identity struct {
	device, inode uint64
	size          int64
	// modified and changed are times of the content and of anything about the file; nobody can set the latter.
	modified, changed time.Time
}

func identify(path string) (identity, bool) {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return identity{}, false
	}
	return identity{
		device: uint64(s.Dev), inode: s.Ino, size: s.Size,
		modified: time.Unix(s.Mtim.Unix()), changed: time.Unix(s.Ctim.Unix()),
	}, true
}

// scanned is what reading a file has told.
type scanned struct {
	identity identity
	binary   binary
}

// settledAfter is more than the steps in which file systems count time: a file may change twice within one.
const settledAfter = 2 * time.Second

// store is the function of that name, without reading a file that has not changed since it was read. What is to be
// verified is the copy, which is read for that at each start.
func (p *Plugin) store(plugin, source string) (binary, error) {
	now, found := identify(source)
	if last := p.scanned.Load(); found && last != nil && last.identity == now {
		if info, err := os.Stat(last.binary.path); err == nil && info.Size() == now.size {
			return last.binary, nil
		}
	}
	b, err := store(p.options.BinaryDir, plugin, source)
	if after, same := identify(source); err == nil && found && same && after == now && time.Since(now.changed) > settledAfter {
		p.scanned.Store(&scanned{identity: now, binary: b})
	}
	return b, err
}
