// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package exhaustion knows the next step for errors that say that a system has run out of something: space on a disk,
// open files, file watches. It holds no state. piped, the development environment and the command line call it.
package exhaustion
