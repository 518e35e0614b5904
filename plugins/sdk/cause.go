// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"errors"
	"os/exec"
)

// CauseMetadataKey is the key of stage metadata with the Cause of a stage that has failed, as JSON:
// {"kind": "NO_CRD", "place": "app/certificate.yaml:2"}. Only pipedeck reads it; others show it, if at all, as it is.
const CauseMetadataKey = "pipedeck/cause"

// The kinds of causes that a plugin can meet.
const (
	// CauseNoCRD: the cluster does not serve the kind of an object, and no built-in group has it.
	CauseNoCRD = "NO_CRD"
	// CauseUnreachable: a host with a part of the application, such as a chart, cannot be reached.
	CauseUnreachable = "UNREACHABLE"
	// CauseNoProgram: a program that the stage runs is not installed on the machine of piped. Errors that wrap
	// exec.ErrNotFound have this cause without WithCause.
	CauseNoProgram = "NO_PROGRAM"

	// CauseTemporary: an API does not answer, is busy, or someone else has changed the same object at the same time.
	CauseTemporary = "TEMPORARY"
)

// Cause is what an environment lacks for a stage, for good or for a time: nothing is wrong with the application. piped
// may retry a deployment that has failed by CauseUnreachable or CauseTemporary, as the application configuration says.
type Cause struct {
	Kind string `json:"kind"`
	// Place is where the application asks for what is lacking, as file, file:line or file:line:column; it may be empty.
	Place string `json:"place,omitempty"`
}

// WithCause returns the error with a cause, which is reported with the stage that fails by the error.
func WithCause(err error, cause Cause) error { return &causedError{err, cause} }

type causedError struct {
	error
	cause Cause
}

func (e *causedError) Unwrap() error { return e.error }

// Cause makes it one of the errors that have a cause. Packages without the SDK have such errors, too.
func (e *causedError) Cause() (kind, place string) { return e.cause.Kind, e.cause.Place }

// causeOf returns the cause of an error. Of several errors together, each must have one: the first counts. So a mistake
// is never hidden by a cause next to it.
func causeOf(err error) (Cause, bool) {
	for err != nil {
		if caused, is := err.(interface{ Cause() (kind, place string) }); is {
			if kind, place := caused.Cause(); kind != "" {
				return Cause{kind, place}, true
			}
		}
		if several, is := err.(interface{ Unwrap() []error }); is {
			var first Cause
			all := several.Unwrap()
			for _, one := range all {
				cause, has := causeOf(one)
				if !has {
					return Cause{}, false
				}
				if first.Kind == "" {
					first = cause
				}
			}
			return first, len(all) > 0
		}
		below := errors.Unwrap(err)
		if below == nil && errors.Is(err, exec.ErrNotFound) {
			return Cause{Kind: CauseNoProgram}, true
		}
		err = below
	}
	return Cause{}, false
}
