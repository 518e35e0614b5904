// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package sessionfile reads and writes files with recorded sessions: what the deck API has sent, with times.
//
// A file is a line that names the format, and then chunks. A chunk is its length and its CRC-32C (Castagnoli), each in
// four bytes, big endian, and a gzip member with records, each after its length as a varint. Chunks do not depend on
// each other, so that a file of which the end is missing or damaged opens as far as it goes.
//
// Writer bounds what it writes, and Read what it takes. Neither knows what records mean.
package sessionfile
