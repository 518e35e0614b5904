// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package sdktest is for the tests of plugins.
//
// [Start] runs a plugin inside a test, and [StartProgram] the program of one in any language: real gRPC over 127.0.0.1
// in both directions, with a [Piped] that plays piped's part and records what the plugin reports.
//
// [NewLog], [NewClient] and [WriteCommit] are for tests of single functions that take a log, a client or a source. They
// keep what they are given as piped does, with its bounds, and fail on demand.
//
// Only tests import it. No type of the protocol is part of it; package wiretest has those.
package sdktest
