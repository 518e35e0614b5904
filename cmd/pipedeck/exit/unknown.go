// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package exit

import (
	"fmt"

	"github.com/spf13/cobra"
)

// refuseUnknown makes unknown words after `help`, `completion` and other groups of commands wrong usage: cobra prints
// help and ends with 0.
func refuseUnknown(root *cobra.Command, args []string) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd(args...)
	for _, cmd := range root.Commands() {
		switch {
		case cmd.Name() == "help":
			cmd.Args = knownTopic
		case !cmd.Runnable() && cmd.HasSubCommands():
			cmd.Args = cobra.ArbitraryArgs
			cmd.RunE = helpOnly
		}
	}
}

// knownTopic refuses `help` about a command that does not exist.
func knownTopic(cmd *cobra.Command, args []string) error {
	topic, rest, err := cmd.Root().Find(args)
	if err == nil && len(rest) > 0 {
		err = unknownCommand(topic, rest[0])
	}
	if err != nil {
		return Usage(err, "see "+topic.CommandPath()+" --help")
	}
	return nil
}

// helpOnly is what a group of commands does by itself.
func helpOnly(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(cmd, args[0])
	}
	return cmd.Help()
}

func unknownCommand(group *cobra.Command, name string) error {
	return fmt.Errorf("unknown command %q for %q", name, group.CommandPath())
}
