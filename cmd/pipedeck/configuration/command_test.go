// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"context"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
)

// command runs a command line as a user does who keeps environments in stateDir.
func command(ctx context.Context, stateDir string, args ...string) (code int, stdout, stderr string) {
	return clitest.Run(ctx, Commands, stateDir, args...)
}
