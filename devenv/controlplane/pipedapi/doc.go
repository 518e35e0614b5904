// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package pipedapi serves pipeds: PipeCD v1's PipedService, and AgentService, which notifies our own
// piped at once what it would otherwise find by polling.
//
// The caller's identity comes from package auth; a piped reaches only what belongs to it. All state
// is in package store.
package pipedapi
