// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package command

// leaveGroup does nothing: macOS has no control groups.
func leaveGroup() {}
