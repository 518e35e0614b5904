// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package store keeps everything a control plane knows, in memory: the environment with its components and problems,
// pipeds, applications with their live states and objects, events, commands, and deployments with their stages, logs
// and chains. It is the one owner of that state.
//
// Each noun is a part with its own state, lock and limits; Store composes the parts. While a part holds its lock it
// calls only parts that come later in this order: Deployments, Commands, chains, Events, Objects, LiveStates, Pipeds,
// Applications, Environment. After them come signals (to connected pipeds), offers (of pipeds to applications) and the
// ledger (journal and watchers), which call no other part. What needs all parts as of one moment, a snapshot for a
// watcher or for the journal, takes all locks in that order.
//
// Every method is safe for concurrent use, and what it returns is a copy that callers may keep but, where a value is
// shared by several watchers, must not change. Watchers get every change in the order in which it happened; a watcher
// that falls behind is notified and starts again from a snapshot. Everything is bounded by Limits.
//
// With a Journal, what a restart of the control plane should not forget is kept there as well: applications,
// deployments with their logs, commands that wait, events, chains, shared objects and analysis results. Restore takes
// it back.
//
// The API packages call it. Errors are *Error, which gRPC turns into the status code it names.
package store
