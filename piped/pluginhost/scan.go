// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"time"

	"golang.org/x/sys/unix"
)

// identity distinguishes files, and states of one file, without reading them.
type identity struct {
	device, inode uint64
	size          int64
	// modified and changed are times of the content and of anything about the file; no one can set the latter.
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

// linked returns the identity of the file at path once a copy that is another name of it was made, which changes the
// file's own time; before is the one from before. It returns before when the two are not the same file.
func (before identity) linked(path, copied string) identity {
	now, found := identify(path)
	other, there := identify(copied)
	if !found || !there || now != other {
		return before
	}
	same := now
	same.changed = before.changed
	if same != before {
		return before
	}
	return now
}

// scanned is what was found in a file.
type scanned struct {
	identity identity
	binary   binary
	// copied identifies the copy whose content was compared.
	copied identity
}

// settledAfter is more than the steps in which file systems count time: a file may change twice within one.
const settledAfter = 2 * time.Second

// settled returns whether a later change gives the file another identity.
func (i identity) settled() bool { return time.Since(i.changed) > settledAfter }

// store is the function of that name, without reading files that have not changed since this process read them. The
// first start of a process reads both, the binary and its copy.
func (s *binaries) store(plugin, source string) (binary, error) {
	now, found := identify(source)
	if last := s.scanned.Load(); found && last != nil && last.identity == now {
		if copied, there := identify(last.binary.path); there && copied == last.copied {
			return last.binary, nil
		}
	}
	b, replaced, err := store(s.dir, plugin, source)
	if err != nil {
		return b, err
	}
	if replaced {
		s.logger.Warn(
			"the copy of the plugin's binary was damaged or exchanged, and is replaced", "plugin", plugin, "file",
			b.path,
		)
	}
	copied, there := identify(b.path)
	if after, same := identify(source); found && same && after == now && there && now.settled() && copied.settled() {
		s.scanned.Store(&scanned{now, b, copied})
	}
	return b, nil
}
