// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package clock holds what piped and the development environment wait by: the clock, which tests replace, and the
// pauses between tries.
//
// All tries pause by a Backoff, always with jitter, because many pipeds may meet one server. Nothing here fails; a wait
// ends early with its context. docs/clocks.md lists the callers.
package clock
