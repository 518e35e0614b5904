// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package address reads how users name a Git repository and a branch: remotes and branch names.
//
// It guarantees that what it accepts is never an option or a command for a program, and that its errors
// repeat no password. The piped configuration is checked with it and package git connects with it, so both
// accept the same. It does no network access.
package address
