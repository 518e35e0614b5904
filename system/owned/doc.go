// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package owned opens directories and files that belong to the user who runs the program, and marks the directories
// that the program may empty or remove.
//
// Nothing in it follows a symbolic link in the last element of a path. What belongs to another user is refused; what
// others may enter or read is closed to them, and the caller gets a sentence about it to show. A directory that is
// neither new, empty nor marked is refused too: it may hold the documents of its owner. Such refusals are *Error.
//
// pipedeck uses it for its state directory, piped for its work directory.
package owned
