// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// checkoutTime is the modification time of everything in a fresh checkout, in unix seconds. Clocks of file
// systems are coarse: a change right after the checkout could keep the time, but no change brings a file
// to this one.
const checkoutTime = 1_000_000_000

// fingerprint tells whether anything in a directory has changed, without reading the files.
type fingerprint map[string]mark

// mark is what changes with a file. Its status change time cannot be set back by a program.
type mark struct {
	mode     fs.FileMode
	size     int64
	modified int64
	changed  int64
	inode    uint64
}

func takeFingerprint(dir string) (fingerprint, error) {
	at := time.Unix(checkoutTime, 0)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeSymlink != 0 {
			return err
		}
		return os.Chtimes(path, at, at)
	})
	if err != nil {
		return nil, err
	}
	return readFingerprint(dir)
}

func readFingerprint(dir string) (fingerprint, error) {
	print := fingerprint{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		print[path] = markOf(info)
		return nil
	})
	return print, err
}

func (f fingerprint) matches(dir string) bool {
	now, err := readFingerprint(dir)
	if err != nil || len(now) != len(f) {
		return false
	}
	for path, mark := range now {
		if f[path] != mark {
			return false
		}
	}
	return true
}
