// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package controlplane is the control plane of a development environment: one server on one port that speaks
// PipedService (any PipeCD v1 piped), APIService (pipectl), AgentService (our piped) and DeckService (our user
// interfaces).
//
// Its state is in memory. With Config.KeepFile, a journal keeps the state in that file, the history: a call that
// changes something is answered once the change is on the disk, and the next control plane starts with what the file
// holds. Pipeds report the rest again, such as live states.
//
// The environment creates a server with New, runs it with Run and reports its own parts with SetEnvironment,
// SetComponent and SetProblem. Run fails only when the listener does. While the history cannot be read or written,
// calls that change something are refused as Unavailable, and Run goes on.
package controlplane
