// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

// Commands returns the commands that run an environment.
func Commands(t *session.Target) []*cobra.Command {
	return []*cobra.Command{
		newUpCommand(t), newHostCommand(t), newCICommand(t), newAttachCommand(t), newDownCommand(t),
		newDemoCommand(t), newReplayCommand(), newExportCommand(t),
		newListCommand(t),
		newDoctorCommand(t), newCleanCommand(t), newEmbeddedCommand(), newSamplesCommand(), newPipedCommand(t),
	}
}
