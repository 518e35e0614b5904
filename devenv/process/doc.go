// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package process starts the child processes of an environment and makes sure that they end.
//
// A child has its own process group and a standard input that stays open while its parent lives:
// a child that watches it notices the parent's death on every system; on Linux the kernel also
// sends it SIGTERM. Its output goes to a file, and the last lines are kept for error messages.
package process
