// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package failpoint

import (
	"context"
	"fmt"
	"io"
	"os"
	"syscall"
)

// kill ends this process at once. Nothing runs after it, deferred calls neither.
func kill() error {
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		return err
	}
	select {} // until the signal is there
}

// hold waits for the other end of a named pipe to be opened and closed again. The wait cannot be
// interrupted; when ctx ends first it goes on behind, until the process ends.
func hold(ctx context.Context, path string) error {
	released := make(chan error, 1)
	go func() {
		pipe, err := os.Open(path)
		if err == nil {
			_, err = io.Copy(io.Discard, pipe)
			pipe.Close()
		}
		released <- err
	}()
	select {
	case err := <-released:
		if err != nil {
			return fmt.Errorf("hold at the named pipe: %w", err)
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
