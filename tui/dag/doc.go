// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package dag orders the stages of a deployment for drawing: stages become layers by what they
// require, layers become rows.
//
// Pure functions for the view of a deployment. Whatever comes in (cycles, unknown or repeated ids), every
// stage comes out exactly once.
package dag
