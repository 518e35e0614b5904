// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package exit ends the commands of pipedeck: the exit codes that scripts rely on, and errors that carry their code and
// the next step for the user.
//
// Commands return an *Error; Run prints it and returns its code. Every other error counts as wrong usage, because
// cobra reports wrong usage so. Explain gives the errors of an environment their codes.
//
// A command whose output cannot be written is no success, also where the command does not check each line: Run ends it
// with Unwritten, or quietly with ReaderGone. No such error ends the process by itself, so that a command removes what
// it has started.
package exit
