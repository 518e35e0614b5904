// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package change has what a plan changes, as data: resources that are created, changed, replaced with the reason, and
// destroyed, and outputs. It never holds a sensitive value. The stages, the plan preview and the detection of drift
// call it; a plan of an unknown format is an error.
package change
