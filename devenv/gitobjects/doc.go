// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package gitobjects reads references, commits, trees and files of a Git repository on this machine, and creates the
// repository of the samples.
//
// It uses the storage of go-git alone. go-git's package for whole repositories and its package for parsed objects bring
// ssh, OpenPGP and a library of differences with them, 3 MB of source that pipedeck would be compiled with before its
// UI appears. piped, which fetches, merges and pushes, uses these packages.
package gitobjects
