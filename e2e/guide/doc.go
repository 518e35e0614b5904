// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package guide follows the steps of docs/plugin-author-guide.md: its tests write the files, run
// the commands and look at what comes out. A guide that no longer works fails them.
//
// A block whose first line names a file, such as ```go main.go, is written to that file; one that begins with
// ```sh run is run. Both happen in the order of the page, in the directory that the last command has left.
// Other blocks are for reading only.
package guide
