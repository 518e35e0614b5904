// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/pipedeck/pipedeck/system/filelock"
	"github.com/pipedeck/pipedeck/system/owned"
)

// ErrLocked says that another process runs the environment.
var ErrLocked = errors.New("the environment is already running")

// Lock is the right to run an environment. The kernel gives it up when the process dies, so a
// killed holder leaves no stale lock.
type Lock struct {
	file *os.File
	dir  string
}

// Acquire takes the lock or returns ErrLocked at once. The directory must exist.
func (w *Workspace) Acquire() (*Lock, error) { return acquire(w.Dir, os.O_CREATE) }

// AcquireExisting is Acquire for an environment that is there: fs.ErrNotExist when it was never
// created or has just been removed, an *owned.Error when its directory is not ours.
func (w *Workspace) AcquireExisting() (*Lock, error) {
	if err := w.Check(); err != nil {
		return nil, err
	}
	lock, err := acquire(w.Dir, 0)
	if errors.Is(err, fs.ErrNotExist) && w.Check() == nil {
		return acquire(w.Dir, os.O_CREATE) // its creation was interrupted
	}
	return lock, err
}

// acquire takes the lock of an environment's directory.
func acquire(dir string, flag int) (*Lock, error) {
	for {
		lock, err := tryLock(dir, flag)
		if err != nil {
			return nil, err
		}
		opened, err := lock.file.Stat()
		if err != nil {
			return nil, errors.Join(err, lock.Release())
		}
		// A process that removed the environment may have removed the file between its opening and its locking.
		now, err := os.Lstat(filepath.Join(dir, owned.LockFile))
		if err == nil && os.SameFile(opened, now) {
			return lock, nil
		}
		if err := lock.Release(); err != nil {
			return nil, err
		}
	}
}

func tryLock(dir string, flag int) (*Lock, error) {
	file, err := owned.OpenFile(filepath.Join(dir, owned.LockFile), os.O_RDWR|flag)
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
	return &Lock{file, dir}, nil
}

// Release gives the lock up; a nil lock is nothing to give up.
func (l *Lock) Release() error {
	if l == nil {
		return nil
	}
	return filelock.Release(l.file)
}
