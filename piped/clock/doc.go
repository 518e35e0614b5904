// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package clock holds what the parts of piped wait by: the clock, which tests replace, and the pauses between tries.
//
// All tries of piped pause by a Backoff, always with jitter, because many pipeds may meet one server. Nothing here
// fails; a wait ends early with its context.
package clock
