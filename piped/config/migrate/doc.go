// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package migrate turns configuration files of PipeCD v0 into those of v1.
//
// It works on the lines of the file: what does not have to change keeps its comments, order, blank
// lines, quotes and indentation, so that the difference shows what was moved and nothing else. What
// cannot be carried over comes back as notes, each with its line. No value is lost without a note: the
// values of the result are counted against those of the source, and the result is checked like any
// configuration file. A file that cannot be rewritten safely is refused with the place that stops it.
//
// pipedeck migrate calls it. It reads and writes no files.
package migrate
