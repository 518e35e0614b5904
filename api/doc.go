// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package api is the root of the contracts between the processes: .proto files and the Go
// generated from them, in the folders below.
//
// Everything outside deck/ and agent/ is wire-compatible with PipeCD v1; testdata/wire.json holds
// its names, numbers, types and rules as data, and a test compares them with the descriptors.
// deck/ and agent/ are pipedeck's own and additive.
package api
