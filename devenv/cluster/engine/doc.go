// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package engine finds the container engine that kind would use and asks it for its facts.
//
// kind chooses by KIND_EXPERIMENTAL_PROVIDER, or by the commands that are installed; whether an
// engine answers is known only after it was asked. Asking is bounded: an engine that hangs is one
// that does not answer.
package engine
