// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package workspace is the directory in which one environment lives: its lock, its secrets, the
// piped configuration made for it, the sample repository, logs and the data of its cluster.
//
// Directories are 0700 and files 0600. One process holds the lock and may write; others read what
// the holder published in running.json. Remove deletes everything and is the only thing that does.
package workspace
