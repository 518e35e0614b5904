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

// fingerprint reports whether anything in a directory has changed, without reading the files, nor the directories:
// those change when something comes or goes.
type fingerprint struct {
	paths []string
	marks []mark
}

// mark is what changes with a file. Its status change time cannot be set back by a program.
type mark struct {
	mode     uint32
	size     int64
	modified int64
	changed  int64
	inode    uint64
}

func takeFingerprint(dir string) (fingerprint, error) {
	at := time.Unix(checkoutTime, 0)
	var taken fingerprint
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Type()&fs.ModeSymlink == 0 {
			if err := os.Chtimes(path, at, at); err != nil {
				return err
			}
		}
		taken.paths = append(taken.paths, path)
		return nil
	})
	if err != nil {
		return fingerprint{}, err
	}
	taken.marks = make([]mark, len(taken.paths))
	for i, path := range taken.paths {
		if taken.marks[i], err = markOf(path); err != nil {
			return fingerprint{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
		}
	}
	return taken, nil
}

// matches is false as well when it cannot be told.
func (f fingerprint) matches() bool {
	for i, path := range f.paths {
		if now, err := markOf(path); err != nil || now != f.marks[i] {
			return false
		}
	}
	return true
}
