// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package supersede holds the notes by which deployments of newer commits end those of older ones.
//
// The trigger notes in the metadata of a deployment which older deployments of the application it ends, as the
// configuration says. The scheduler finds out which ones that are, and notes in each of them what has ended it. Both
// notes are at the control plane before anything follows from them, so the next piped decides the same. PipeCD
// ignores them.
package supersede
