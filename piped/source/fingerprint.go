// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// checkoutTime is the modification time of everything in a fresh checkout, in unix seconds. Clocks of file
// systems are coarse: a change right after the checkout could keep the time, but no change brings a file
// to this one.
const checkoutTime = 1_000_000_000

// fingerprint reports whether anything in a directory has changed, without reading the files, nor the directories:
// those change when something comes or goes.
type fingerprint struct {
	dir string
	// paths are the paths below dir, each with a NUL after it: a string for each would take three times the memory of
	// all trees that are kept.
	paths string
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
	taken := fingerprint{dir: dir}
	var paths strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Type()&fs.ModeSymlink == 0 {
			if err := os.Chtimes(path, at, at); err != nil {
				return err
			}
		}
		paths.WriteString(strings.TrimPrefix(path, dir))
		paths.WriteByte(0)
		return nil
	})
	if err != nil {
		return fingerprint{}, err
	}
	taken.paths = strings.Clone(paths.String()) // without the builder's spare capacity
	taken.marks = make([]mark, 0, strings.Count(taken.paths, "\x00"))
	for path := range taken.all() {
		now, err := markOf(path)
		if err != nil {
			return fingerprint{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
		}
		taken.marks = append(taken.marks, now)
	}
	return taken, nil
}

// all returns the paths as they were walked.
func (f fingerprint) all() iter.Seq[string] {
	return func(yield func(string) bool) {
		for rest := f.paths; rest != ""; {
			path, after, _ := strings.Cut(rest, "\x00")
			if !yield(f.dir + path) {
				return
			}
			rest = after
		}
	}
}

// matches also returns false when a file cannot be compared.
func (f fingerprint) matches() bool {
	i := 0
	for path := range f.all() {
		if now, err := markOf(path); err != nil || now != f.marks[i] {
			return false
		}
		i++
	}
	return true
}
