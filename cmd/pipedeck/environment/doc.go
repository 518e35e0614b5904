// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package environment holds the commands that run an environment: up, ci, attach, down, doctor and what they start.
//
// A separate process, the host, runs an environment while user interfaces come and go; without a terminal, up and ci
// are their own host. Exit codes are those of package exit.
package environment
