// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package spool keeps reports for a control plane that is away, on disk and in order, and delivers them
// once it is back.
//
// A Spool is a layer that calls to the control plane pass. While nothing waits, reports go
// straight through and no file is touched. A report that does not get through is kept, and so is every
// report after it until all have been delivered: one order for all of them. A kept report counts as taken,
// so deployments go on. It outlasts the agent and the machine; a part of one that was being written is
// not taken for a report. What the control plane refuses for good is dropped and logged.
//
// A report may arrive twice, when its answer was lost or the agent died over it; each says what is so and
// not what has changed, so the second does nothing. Objects that plugins store are reports too, and are read
// back from the spool while they wait. Calls whose answers the reports in the spool would
// change wait until those have been delivered: the agent trusts no list that is older than what it knows.
//
// Bytes and number of the reports are bounded. When they are used up, stage logs give way: first what the
// plugin repeats at its next checkpoint, then the checkpoints, in whose place a line says so. When no log
// is left, callers wait.
//
// The agent opens one Spool for its work directory, as a layer after the masking of secrets: what lies on disk is
// masked, but for objects. Calls fail as they do without the Spool, and with Unavailable when the disk fails.
package spool
