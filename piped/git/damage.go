// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"
)

// ErrRepaired says that the mirror was damaged, as after a power cut, and was repaired: what is missing is fetched
// again when the caller retries, which has to undo first what the failed call has done.
var ErrRepaired = errors.New("the mirror was damaged and is repaired; retry")

// mirrorError is a failure to read an object of the mirror.
type mirrorError struct {
	id  plumbing.Hash
	err error
}

// Error returns the cause.
func (e *mirrorError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *mirrorError) Unwrap() error { return e.err }

// readError is the error of an object of the mirror, of that kind, that cannot be read; nil without a cause.
func readError(kind string, id plumbing.Hash, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read %s %s: %w", kind, id, &mirrorError{id, err})
}

// damageOf returns the error of the object that is damaged, or nil when the mirror is not the cause.
func damageOf(err error) *mirrorError {
	var failed *mirrorError
	if !errors.As(err, &failed) || isSystemError(failed.err) {
		return nil
	}
	return failed
}

// isSystemError distinguishes a system that cannot read now, such as one without free descriptors, and a caller that
// has gone, from objects that are damaged or missing.
func isSystemError(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var errno syscall.Errno
	return errors.As(err, &errno) && !errors.Is(errno, fs.ErrNotExist)
}
