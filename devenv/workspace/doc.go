// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package workspace is the directory in which one environment lives: its lock, its secrets, the
// piped configuration made for it, the sample repository, logs and the data of its cluster.
//
// The directory carries a mark (package owned) with the name of the environment. It is created empty or not at all, and
// every opening of it checks the mark, and owner and type of what the environment creates in it. Directories are 0700
// and files 0600. One process holds the lock and may write; others read what the holder published in running.json.
// Remove deletes what layout.go lists, item by item, with the lock held; everything else stays and is named.
package workspace
