// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

// returnProgramPages does nothing: macOS does not count pages of files as memory of a process.
func returnProgramPages() error { return nil }
