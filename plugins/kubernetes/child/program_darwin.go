// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package child

import "os"

// ownProgram is the file of this program.
func ownProgram() (string, error) { return os.Executable() }
