// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package store keeps everything a control plane knows, in memory: pipeds, applications,
// deployments with their stages and logs, commands, events, chains and shared objects.
//
// It is the one owner of that state. Every method is safe for concurrent use, and what it hands
// out is a copy that callers may keep but, where a value is shared by several watchers, must not
// change. Watchers get every change in the order in which it happened; a watcher that falls behind
// is told so and starts again from a snapshot. Everything is bounded by Limits.
//
// With a Journal, what a restart of the control plane should not forget is kept there as well: applications,
// deployments with their logs, commands that wait, events, chains, shared objects and analysis results. Restore takes it
// back.
//
// The API packages call it. Errors are *Error, which gRPC turns into the status code it names.
package store
