// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

// Commands returns the commands that ask an environment to act.
func Commands(t *session.Target) []*cobra.Command {
	return []*cobra.Command{
		newSyncCommand(t), newRetryCommand(t), newRollbackCommand(t), newRemoveCommand(t),
		newApproveCommand(t), newSkipCommand(t), newContinueCommand(t), newBreakCommand(t),
		newShellCommand(t),
		newCancelCommand(t), newRestartCommand(t), newEventCommand(t), newFaultCommand(t),
	}
}
