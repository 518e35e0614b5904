// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package exhaustion

import (
	"errors"
	"os"
	"syscall"
)

// Advice returns the next step for an error that says that the system has run out of something: space on a disk, open
// files. It is empty for other errors.
func Advice(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "free space on that disk; work goes on by itself then"
	case errors.Is(err, syscall.EROFS):
		return "mount that disk for writing again; see the system's log for why it is read-only"
	case errors.Is(err, syscall.EMFILE):
		return "raise the limit of open files and start it again: ulimit -n 65536"
	case errors.Is(err, syscall.ENFILE):
		return "end programs that hold many files open, or raise the system's limit: " + raiseSystemFiles
	default:
		return ""
	}
}

// WatchAdvice is Advice for an error of watching files. There "no space" and "too many files" are mostly limits on
// watches.
func WatchAdvice(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return raiseWatches
	case errors.Is(err, syscall.EMFILE) && canOpen():
		return raiseInstances
	default:
		return Advice(err)
	}
}

// canOpen reports whether this process may open one more file.
func canOpen() bool {
	file, err := os.Open(os.DevNull)
	if err != nil {
		return false
	}
	file.Close()
	return true
}
