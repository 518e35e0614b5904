// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package filelock gives up locks of files.
package filelock

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Release gives up the lock that flock has got for a file, and closes the file. To close it is not enough: a process
// that is started at that moment has the file as well, and with it the lock, until it executes its program.
func Release(file *os.File) error {
	err := unix.Flock(int(file.Fd()), unix.LOCK_UN)
	if err != nil {
		err = fmt.Errorf("unlock %s: %w", file.Name(), err)
	}
	return errors.Join(err, file.Close())
}
