// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package auth lets callers of the control plane in: pipeds with "PIPED-TOKEN
// <project>,<piped>,<key>" to the services for pipeds, users with "API-KEY <id>.<secret>" to the
// others, and no one else. Only hashes of secrets are kept, compared in constant time.
//
// The server calls Check when the headers of a call have arrived, before its message is read. Callers get
// Unauthenticated without the reason; the server logs it.
package auth
