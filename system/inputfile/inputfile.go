// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inputfile

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// KindError is the cause of a file that is not opened because of what it is.
type KindError struct {
	// Kind is such as "directory" or "named pipe".
	Kind string
}

func (e *KindError) Error() string { return "it is a " + e.Kind + ", not a regular file" }

// Open opens a regular file for reading. It also opens a pipe that the shell has made for this process: the <(COMMAND)
// of bash, or /dev/stdin. Errors are of the type *fs.PathError and name the path.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if kind := refused(info.Mode(), path); kind != "" {
		return nil, &fs.PathError{Op: "open", Path: path, Err: &KindError{kind}}
	}
	// O_NONBLOCK: should it be a named pipe by now, the open does not wait either.
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// Read returns the first limit bytes of a file that Open opens. It ends with ctx, also while a pipe is silent.
func Read(ctx context.Context, path string, limit int64) ([]byte, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	defer context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(time.Now()) })()
	content, err := io.ReadAll(io.LimitReader(file, limit))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return content, err
}

// refused names the kind of a file that is not opened; empty for one that is.
func refused(mode fs.FileMode, path string) string {
	switch {
	case mode.IsRegular(), mode&fs.ModeNamedPipe != 0 && inherited(path):
		return ""
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	default:
		return "special file"
	}
}

// inherited reports whether a path names a descriptor of this process.
func inherited(path string) bool {
	path = filepath.Clean(path)
	return path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}
