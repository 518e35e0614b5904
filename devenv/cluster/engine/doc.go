// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package engine finds the container engine that kind would use and asks it for its facts.
//
// kind chooses by KIND_EXPERIMENTAL_PROVIDER, or by the commands that are installed, and does not know whether an
// engine answers. This package asks the engine, within a bound: an engine that hangs counts as one that does not
// answer.
package engine
