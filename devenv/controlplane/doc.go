// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package controlplane is the in-memory control plane of a development environment: one server on
// one port that speaks PipedService (any PipeCD v1 piped), APIService (pipectl), AgentService (our
// piped) and DeckService (our user interfaces).
//
// It keeps nothing on disk; what a piped needs after a restart of the environment it reports anew.
// The environment makes one with New, runs it with Run and tells it what to show of itself with
// SetEnvironment and SetComponent. Run fails only when the listener does.
package controlplane
