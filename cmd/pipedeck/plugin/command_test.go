// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/configuration"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

// command runs a command line as a user does who keeps environments in stateDir.
func command(ctx context.Context, stateDir string, args ...string) (code int, stdout, stderr string) {
	return clitest.Run(ctx, withValidate, stateDir, args...)
}

// withValidate returns the plugin commands, and those that check what they write.
func withValidate(t *session.Target) []*cobra.Command {
	return append(configuration.Commands(t), NewCommand(t))
}
