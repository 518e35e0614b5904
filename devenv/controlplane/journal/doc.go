// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package journal keeps the state of a control plane in one file, so that it outlasts the process.
//
// The file is a list of records, each the whole of one object as it is from then on: the last one counts.
// A record has reached the system when Append returns, so nothing is lost when the process is killed; it
// reaches the disk when the system writes it, at Rewrite and at Close, so the last seconds may be lost with
// the machine. Each record carries a checksum. What follows the first one that is not whole is cut off when
// the file is opened, which is at most what was being written when the process was killed.
//
// Rewrite replaces the file by one that holds each object once; a reader finds the old or the new one whole.
// The file has mode 0600. One that another version has written is moved aside, not touched.
//
// The store appends and rewrites. A disk that fails is logged, and the journal is closed for good: the
// control plane goes on in memory.
package journal
