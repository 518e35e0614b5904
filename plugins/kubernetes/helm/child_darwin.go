// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import "os"

// childProgram is the file of this program.
func childProgram() (string, error) { return os.Executable() }
