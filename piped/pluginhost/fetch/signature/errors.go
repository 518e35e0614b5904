// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package signature

import "fmt"

// Error says what is wrong with a signature or a key.
type Error struct {
	// Err is what is wrong, Step what a user can do.
	Err  error
	Step string
}

func (e *Error) Error() string { return fmt.Sprintf("%s; %s", e.Err, e.Step) }

func (e *Error) Unwrap() error { return e.Err }

func wrong(step, format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Step: step}
}
