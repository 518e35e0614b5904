// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package command runs tofu or terraform.
//
// A program is never killed while it may change something: when the context ends, it gets an interrupt once, finishes
// what it has begun, writes its state and releases the lock, and Run waits for that. It also outlives this process:
// this program runs it apart, and its output goes to a file. No command asks questions. The stages, the live
// state and the plan preview of the plugin call the package; errors hold the last lines that the program wrote.
package command
