// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pipedeck/pipedeck/system/exhaustion"
)

const (
	// MinFree is the free space below which a disk counts as full, in bytes: commits and plugin binaries take up to
	// this much at once.
	MinFree = 32 << 20
	// maxOpenShare is the share of the limit on open files, in percent, above which there are too many.
	maxOpenShare = 90
)

// Disk is a source that reports when less than minFree bytes may be written below a directory.
func Disk(dir string, minFree uint64) Source {
	return func() []Problem {
		var stat unix.Statfs_t
		if err := unix.Statfs(dir, &stat); err != nil {
			return []Problem{{
				Part: "disk", Reason: fmt.Sprintf("the directory %s cannot be used: %v", dir, err),
				NextStep: "create it again: mkdir -p " + quote(dir),
			}}
		}
		free := uint64(stat.Bavail) * uint64(stat.Bsize)
		if free >= minFree {
			return nil
		}
		return []Problem{{
			Part: "disk",
			Reason: fmt.Sprintf(
				"the disk of %s is full: %d MiB are free; commits, logs and reports may not be written", dir, free>>20,
			),
			NextStep: exhaustion.Advice(syscall.ENOSPC),
		}}
	}
}

// quote writes a path as one word of a shell.
func quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

// Descriptors reports when this process has nearly as many files open as it may.
func Descriptors() []Problem {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return nil
	}
	open, err := openFiles()
	switch {
	case err != nil && exhaustion.Advice(err) != "":
		return []Problem{
			{
				Part: "open files", Reason: fmt.Sprintf("no more files can be opened: %v", err),
				NextStep: exhaustion.Advice(err),
			},
		}
	case err != nil || float64(open) < float64(limit.Cur)*maxOpenShare/100:
		return nil
	}
	return []Problem{{
		Part: "open files", Reason: fmt.Sprintf("%d files are open, the limit is %d", open, limit.Cur),
		NextStep: exhaustion.Advice(syscall.EMFILE),
	}}
}

// openFiles counts the descriptors of this process.
func openFiles() (int, error) {
	dir, err := os.Open(filepath.FromSlash("/dev/fd"))
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	return len(names), err
}
