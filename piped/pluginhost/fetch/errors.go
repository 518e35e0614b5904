// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"errors"
	"fmt"
)

// Error says why the binary of a plugin could not be fetched or used.
type Error struct {
	Plugin string
	// URL is without secrets; empty where there is none.
	URL string
	// Err is what happened, Step what a user can do.
	Err  error
	Step string
	// Passing is set when another try may succeed.
	Passing bool
}

func (e *Error) Error() string {
	if e.URL == "" {
		return fmt.Sprintf("plugin %q: %s; %s", e.Plugin, e.Err, e.Step)
	}
	return fmt.Sprintf("plugin %q: %s: %s; %s", e.Plugin, e.URL, e.Err, e.Step)
}

func (e *Error) Unwrap() error { return e.Err }

func newError(plugin, address string, err error) *Error {
	failed := &Error{Plugin: plugin, URL: Redact(address), Err: err, Step: "correct the url in the piped configuration"}
	var why *failure
	if errors.As(err, &why) {
		failed.Step, failed.Passing = why.step, why.passing
	}
	return failed
}

// Passing reports whether another try may succeed.
func Passing(err error) bool {
	var failed *Error
	return errors.As(err, &failed) && failed.Passing
}

// failure is what a source says of one try.
type failure struct {
	error
	step    string
	passing bool
}

func (f *failure) Unwrap() error { return f.error }

// refused is a failure that another try does not fix.
func refused(step, format string, args ...any) error {
	return &failure{error: fmt.Errorf(format, args...), step: step}
}

// gone is a refusal by the server, which has the content not at all or not for us.
func gone(step, format string, args ...any) error {
	return &failure{error: goneError{fmt.Errorf(format, args...)}, step: step}
}

type goneError struct{ error }

func (goneError) Is(target error) bool { return target == errGone }

// passing is a failure that may be gone at the next try.
func passing(step, format string, args ...any) error {
	return &failure{error: fmt.Errorf(format, args...), step: step, passing: true}
}
