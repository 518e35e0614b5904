// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package env brings an environment up and down: the control plane in this process, the cluster
// and piped as children, each a component whose state the deck API shows.
//
// Run holds the environment's lock while it runs. When it returns, every child has ended; the
// data stays unless removal was asked for. A killed environment leaves only what the next Run
// finds in the directory: it waits for children that are still ending and says so.
package env
