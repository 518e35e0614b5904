// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package child

// ownProgram is this very program, even when its file has been replaced since.
func ownProgram() (string, error) { return "/proc/self/exe", nil }
