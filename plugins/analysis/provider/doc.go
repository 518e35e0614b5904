// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package provider asks the services that hold metrics and logs, and requests URLs, for the plugin analysis.
//
// It guarantees that each answer is bounded, that a query ends with its context, and that no error holds a password, a
// token or a key. Values that are not numbers are left out, in all providers alike: an answer without any other value
// has no data. Errors say which service was asked and what it answered.
package provider
