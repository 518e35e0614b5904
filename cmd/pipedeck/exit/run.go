// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package exit

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/system/plainerror"
	"github.com/pipedeck/pipedeck/tui/text"
)

// Run executes one command line, prints its error with the next step to stderr, and returns the exit code. flags
// returns, once the line was read, what commands for the user need so that they find the same environment.
func Run(
	ctx context.Context, root *cobra.Command, args []string, flags func() string, stdout, stderr io.Writer,
) int {
	out, errOut := &output{to: stdout}, &output{to: stderr}
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	root.SilenceUsage, root.SilenceErrors = true, true
	refuseUnknown(root, args)
	cmd, err := root.ExecuteContextC(ctx)
	failure := failureOf(cmd, err)
	switch lost := out.failure(); {
	case lost == nil:
	case failure == nil || IsOutput(err) || failure.Code == lost.Code:
		failure = lost
	case lost.Err != nil:
		fmt.Fprintln(errOut, "pipedeck:", text.Clean(lost.Error())) // the command's own error has the code
	}
	if failure == nil {
		return OK
	}
	return Fail(failure, flags, errOut)
}

// failureOf is how the error of a command ends the program; nil for none.
func failureOf(cmd *cobra.Command, err error) *Error {
	var failure *Error
	if err != nil && !errors.As(err, &failure) {
		failure = With(WrongUsage, arguments(cmd, err), "see "+cmd.CommandPath()+" --help")
	}
	return failure
}

// Fail prints an error with its next step to stderr, and returns its exit code. flags is as for Run.
func Fail(failure *Error, flags func() string, stderr io.Writer) int {
	if failure.Err != nil {
		// Errors quote what others wrote: commits, plugins, compilers.
		message := line.WithFlags(plainerror.Text(failure.Err), flags())
		fmt.Fprintln(stderr, "pipedeck:", text.Clean(message))
		if failure.Hint != "" {
			fmt.Fprintln(stderr, "next step:", line.WithFlags(failure.Hint, flags()))
		}
	}
	return failure.Code
}
