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
// The API packages call it. Errors are *Error, which gRPC turns into the status code it names.
package store
