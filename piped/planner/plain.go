// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planner

import "github.com/pipedeck/pipedeck/system/plainerror"

// plainError is an error whose text is for users: it becomes the status reason of a deployment.
type plainError struct{ error }

// Error is the text without the words of gRPC.
func (e *plainError) Error() string { return plainerror.Text(e.error) }

// Unwrap returns the error itself: its type and its code decide what comes next.
func (e *plainError) Unwrap() error { return e.error }

func plain(err error) error {
	if err == nil {
		return nil
	}
	return &plainError{err}
}
