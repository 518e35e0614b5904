// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrInUse says that another live process uses the data directory.
var ErrInUse = errors.New("data directory is in use")

// lock makes dir this process's own until release is called or the process ends, however it ends.
func lock(dir string) (release func(), err error) {
	path := filepath.Join(dir, "lock")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer file.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		owner, _ := os.ReadFile(path)
		return nil, fmt.Errorf("%w: %s is used by process %s; stop it or choose another --data-dir",
			ErrInUse, dir, strings.TrimSpace(string(owner)))
	}
	// The content only serves the message above, so that failing to write it is no failure.
	_ = file.Truncate(0)
	_, _ = fmt.Fprintln(file, os.Getpid())
	return func() { _ = file.Close() }, nil
}
