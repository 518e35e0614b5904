// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

// Commands returns the commands for configuration files.
func Commands(t *session.Target) []*cobra.Command {
	return []*cobra.Command{
		newInitCommand(), newValidateCommand(), newMigrateCommand(), newEncryptCommand(t),
	}
}
