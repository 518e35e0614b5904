// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package logbuf keeps the log of one stage: any line by number, its bytes as they came, the levels of lines, search,
// and bounds on what it costs.
//
// Newer lines stay in memory; older ones go to a temporary file that no one else can read and that Close
// removes; past the file's bound the oldest lines are dropped and counted. A Buffer is safe for
// concurrent use: the stream of a log appends, the screen reads. When the file cannot be written
// (disk full) the oldest lines are dropped instead, and Err says so.
package logbuf
