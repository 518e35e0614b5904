// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package standin plays piped for one plugin: a Piped that serves what plugins call and keeps what they report, and a
// Program that is started as PipeCD v1's piped starts plugins. The test kit, the conformance checks and the replay of
// recordings stand on it; it needs no test.
//
// Everything listens on 127.0.0.1. What a plugin reports is kept in memory until Close.
package standin
