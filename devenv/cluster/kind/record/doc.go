// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package record says in a file which kind cluster belongs to an environment. It is the only proof of that: what no
// record names is neither adopted nor removed.
//
// It is apart from package kind, and so from kind's library, because pipedeck has to know whether there is a cluster
// without being compiled with what makes one.
package record
