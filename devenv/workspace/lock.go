// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ErrLocked says that another process runs the environment.
var ErrLocked = errors.New("the environment is already running")

// Lock is the right to run an environment. The kernel gives it up when the process dies, so a
// killed holder leaves no stale lock.
type Lock struct{ file *os.File }

// Acquire takes the lock or returns ErrLocked at once. The directory must exist.
func (w *Workspace) Acquire() (*Lock, error) { return w.lock(os.O_CREATE) }

// AcquireExisting is Acquire without making anything: os.ErrNotExist when the environment never
// ran or is being removed.
func (w *Workspace) AcquireExisting() (*Lock, error) { return w.lock(0) }

func (w *Workspace) lock(flag int) (*Lock, error) {
	file, err := os.OpenFile(w.Path("lock"), os.O_RDWR|flag, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the environment's lock: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, ErrLocked
		}
		return nil, fmt.Errorf("lock the environment: %w", err)
	}
	return &Lock{file}, nil
}

// Release gives the lock up; a nil lock is nothing to give up.
func (l *Lock) Release() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}
