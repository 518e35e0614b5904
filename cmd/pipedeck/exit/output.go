// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package exit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
)

// OutputError is a result that could not be printed.
type OutputError struct{ Err error }

func (e *OutputError) Error() string {
	cause := e.Err
	if place := (*fs.PathError)(nil); errors.As(cause, &place) {
		cause = place.Err // the path is that of a device
	}
	return fmt.Sprintf("cannot write the output: %v", cause)
}

// Unwrap returns the cause.
func (e *OutputError) Unwrap() error { return e.Err }

// IsOutput reports whether an error is that of an output that cannot be written, which Run says by itself.
func IsOutput(err error) bool {
	failed := (*OutputError)(nil)
	return errors.As(err, &failed)
}

// failure is how such an error ends the program: quietly when no one reads on, such as head, as a shell reports it of
// programs that end by themselves then.
func (e *OutputError) failure() *Error {
	switch {
	case errors.Is(e, syscall.EPIPE):
		return &Error{Code: ReaderGone}
	case errors.Is(e, syscall.ENOSPC), errors.Is(e, syscall.EDQUOT):
		return With(Unwritten, e, "free space where standard output goes, or send it elsewhere, and run it again")
	default:
		return With(Unwritten, e, "send standard output to a file or a program that takes it, and run it again")
	}
}

// output is where a command prints, for any number of goroutines. Its first error stays, so that nothing is printed
// behind a gap, and a command that does not check each line still does not end as a success.
type output struct {
	to io.Writer

	mu     sync.Mutex
	failed *OutputError
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed != nil {
		return 0, o.failed
	}
	n, err := o.to.Write(p)
	if err != nil {
		o.failed = &OutputError{Err: err}
		return n, o.failed
	}
	return n, nil
}

// Fd returns the descriptor of a file, with which callers find out whether it is a terminal.
func (o *output) Fd() uintptr {
	if file, ok := o.to.(*os.File); ok {
		return file.Fd()
	}
	return ^uintptr(0)
}

// failure is that of the first error; nil for none.
func (o *output) failure() *Error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed == nil {
		return nil
	}
	return o.failed.failure()
}
