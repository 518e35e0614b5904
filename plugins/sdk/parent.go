// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
)

// parentEnv holds the number of a pipe's read end. The agent keeps the write end open as long as it
// lives; so the end of the pipe is the end of the agent, however that came.
const parentEnv = "PIPEDECK_PARENT_FD"

// openParentPipe returns the pipe to the agent; nil when there is none. The variable is removed and the
// pipe is closed in programs that the plugin starts: it is not meant for them.
func openParentPipe() (*os.File, error) {
	value := os.Getenv(parentEnv)
	if value == "" {
		return nil, nil
	}
	if err := os.Unsetenv(parentEnv); err != nil {
		return nil, err
	}
	fd, err := strconv.Atoi(value)
	if err != nil || fd < 3 {
		return nil, fmt.Errorf("%s is %q, want the number of an open pipe", parentEnv, value)
	}
	syscall.CloseOnExec(fd)
	// Non-blocking, so that Close ends a Read.
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, fmt.Errorf("%s is %d, which is not an open pipe: %w", parentEnv, fd, err)
	}
	return os.NewFile(uintptr(fd), "agent pipe"), nil
}

// waitForEnd returns when the other end of the pipe, or the pipe itself, is closed.
func waitForEnd(pipe io.Reader) {
	_, _ = io.Copy(io.Discard, pipe)
}
