// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package absent lists what the cluster lacks, and records an Event on each object of a kind that nothing acts on, so
// that its owner does not wait for an effect.
//
// The list is absent.yaml. Its objects are watched by informers that the garbage collector has in any case.
package absent
