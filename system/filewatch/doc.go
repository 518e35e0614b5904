// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package filewatch watches directories and files for changes. It bounds how many it watches, because each one takes a
// place in a table of the system, and it tries again what the system refused: there may be watches later.
//
// A watch reports changes only of the files directly below a directory; the caller names the directories below it, too.
// Those that the system refuses have to be read at intervals. piped, the development environment and the command line
// call it.
package filewatch
