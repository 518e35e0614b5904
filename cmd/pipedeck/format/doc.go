// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package format holds the two forms that commands print their results in: a table for users, and JSON for scripts,
// which the flag -o json chooses.
package format
