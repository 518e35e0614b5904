// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/preview"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

// Commands returns the commands that read an environment.
func Commands(t *session.Target) []*cobra.Command {
	return []*cobra.Command{
		newStatusCommand(t), newAppsCommand(t), newDeploymentsCommand(t), newPluginsCommand(t),
		newLogsCommand(t), newOpenCommand(t), preview.NewCommand(t),
		newTreeCommand(t), newDiffCommand(t), newEventsCommand(t), newHistoryCommand(t),
	}
}
