// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/system/filelock"
)

// lockPoll is how often it is looked whether another process has built.
const lockPoll = 100 * time.Millisecond

// lock waits until no other process builds into dir.
func lock(ctx context.Context, dir string, progress func(string)) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the cache of images: %w", err)
	}
	waited := false
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return func() { _ = filelock.Release(file) }, nil
		case err != unix.EWOULDBLOCK && err != unix.EINTR:
			file.Close()
			return nil, fmt.Errorf("lock the cache of images: %w", err)
		case !waited:
			progress("Waiting for another pipedeck that builds an image")
			waited = true
		}
		// A lock cannot be waited for together with a cancellation, hence the pauses.
		if !clock.Sleep(ctx, lockPoll) {
			file.Close()
			return nil, context.Cause(ctx)
		}
	}
}
