// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package exit

// Exit codes of every subcommand.
const (
	OK          = 0
	Failed      = 1 // a deployment failed or was cancelled
	WrongUsage  = 2 // wrong usage or configuration
	NotStarted  = 3 // the environment could not start
	TimedOut    = 4
	Degraded    = 5 // a part of the environment does not work as it should
	Unwritten   = 6 // the output could not be written
	Interrupted = 130
	ReaderGone  = 141 // no one reads the output any more; shells give this code for SIGPIPE
)

// Error ends the program with a code. Without Err, nothing is printed.
type Error struct {
	Code int
	Err  error
	// Hint is the next step for the user.
	Hint string
}

// With returns an error that ends the program with a code and names the next step.
func With(code int, err error, hint string) *Error { return &Error{Code: code, Err: err, Hint: hint} }

// Usage returns the error of wrong usage or configuration.
func Usage(err error, hint string) error { return With(WrongUsage, err, hint) }

// Silent returns an error that ends the program with a code and prints nothing.
func Silent(code int) *Error { return &Error{Code: code} }

func (e *Error) Error() string {
	if e.Err == nil {
		return "exit"
	}
	return e.Err.Error()
}

// Unwrap returns the cause; nil when there is nothing to print.
func (e *Error) Unwrap() error { return e.Err }
