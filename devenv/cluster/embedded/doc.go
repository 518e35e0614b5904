// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package embedded provides a Kubernetes API server without containers: the program in
// devenv/embeddedk8s, run as a child process.
//
// The program is a separate Go module and takes minutes to compile, so it is compiled on first
// use, in the background and with progress, and kept in the user's cache under a name made from
// its sources. Its data lives in the environment's directory and outlives a kill.
package embedded
