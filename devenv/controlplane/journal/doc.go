// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package journal keeps the state of a control plane in one file, so that it outlasts the process and the machine's
// power.
//
// The file is a list of records. Each record is one whole object; the last record of an object counts. Append only
// queues a record: Run writes what is queued as one group, brings the group to the disk and then lets Wait return. So
// what Wait has confirmed survives a kill and a power cut.
//
// A record carries its checksum, its number and the identity of its object at both ends. A reader that meets damage
// finds the next record, says which objects the damaged records held, and restores the rest. The damaged file is kept
// next to the new one, under a name that is used once; so is a file that this version cannot read. A sign next to the
// file says that a history was written: when only the sign is left, a note says what is missing.
//
// While the file cannot be read or written, Ready and Wait return why, and Run tries again with a back-off: it writes
// a complete snapshot to a new file and replaces the old one by it. The same happens when the file has doubled in size
// or has disappeared. Problems are reported with their next step through Options.Problem.
//
// The control plane's store is the State; its gRPC interceptor calls Ready before and Wait after each call that
// changes something.
package journal
