// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package controlplane is piped's side of the connection to a control plane: credentials, retries, and
// notice of what has changed there.
//
// A Client answers like the generated PipedService and AgentService clients. Each of its calls passes layers, whose
// order one list in layers.go gives: those of the agent, which mask, trace, observe and keep what is reported, then the
// Client's own. Calls that fail for a passing reason are tried again with growing pauses, a bounded number of times and
// never beyond the caller's context; calls that the control plane refuses fail at once. A Watcher notifies its
// subscribers which lists to fetch again: at once when the control plane serves AgentService, by the clock when it does
// not. Its notices may be merged but are never lost.
//
// The agent creates one Client and one Watcher. Both fail only by the errors of their calls; a Watcher goes
// on until its context ends.
package controlplane
