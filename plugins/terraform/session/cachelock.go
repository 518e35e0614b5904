// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pipedeck/pipedeck/system/filelock"
)

// lockTick is the time between two tries to get the lock of a cache that another process has.
const lockTick = 50 * time.Millisecond

// lockCache waits until no one else installs providers into a cache. Terraform does not protect it from several inits
// at the same time, and applications, deploy targets and environments share it.
func lockCache(ctx context.Context, dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the cache of providers: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, ".pipedeck-lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the cache of providers: %w", err)
	}
	tick := time.NewTicker(lockTick)
	defer tick.Stop()
	for {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = filelock.Release(file) }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			_ = file.Close()
			return nil, fmt.Errorf("lock the cache of providers %s: %w", dir, err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			_ = file.Close()
			return nil, fmt.Errorf("wait for another init, which uses the cache of providers %s: %w", dir,
				context.Cause(ctx))
		}
	}
}
