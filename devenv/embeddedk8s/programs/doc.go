// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package programs knows which images run as processes of this machine, and by which programs.
//
// The environment writes the list and replaces it by rename; this package reads it and trusts no one else's file: the
// list and each program belong to the user that runs the cluster (a program may also belong to root), and no one else
// can write to them. An image that is not in the list runs nothing. A list that cannot be read leaves the last good one
// in force, so that a half-written or foreign file neither starts nor stops anything.
package programs
