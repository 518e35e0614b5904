// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"
)

// blockSize is the unit in which systems count the blocks of a file.
const blockSize = 512

// fileID identifies a file that may have several names.
type fileID struct{ device, inode uint64 }

// measure adds up what files take of the disk. A file with several names counts once.
type measure struct {
	seen   map[fileID]bool
	bytes  int64
	newest time.Time
}

func (m *measure) add(path string) error {
	return filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was removed meanwhile
		}
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return nil //nolint:nilerr // it was removed meanwhile
		}
		if info.ModTime().After(m.newest) {
			m.newest = info.ModTime()
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok || !info.Mode().IsRegular() {
			return nil
		}
		id := fileID{uint64(stat.Dev), stat.Ino} //nolint:unconvert // its type differs between systems
		if !m.seen[id] {
			m.seen[id] = true
			m.bytes += stat.Blocks * blockSize
		}
		return nil
	})
}
