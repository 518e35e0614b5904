// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/pipedeck/pipedeck/system/filelock"
	"github.com/pipedeck/pipedeck/system/owned"
)

// lock makes sure that one process uses the work directory. The system releases it when the process ends,
// however that comes.
func lock(dir string) (unlock func(), err error) {
	file, err := owned.OpenFile(filepath.Join(dir, owned.LockFile), os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, fmt.Errorf("lock the work directory: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("another piped is using the work directory %s: end it, or choose another one with --work-dir",
			dir)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return func() { _ = filelock.Release(file) }, nil
}
