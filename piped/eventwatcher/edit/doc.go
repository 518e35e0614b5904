// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package edit puts a value into a file at one place, by a path in YAML, JSON or HCL or by a regular
// expression.
//
// It changes the bytes of the value and no others: comments, order, indentation and the style of quotes
// stay. A value that was text stays text. What it has written it reads again: a result that is not valid,
// or that differs anywhere else, is an error and never returned.
//
// The event watcher calls it. Inputs are bounded by the caller; errors say what is at the place instead.
package edit
