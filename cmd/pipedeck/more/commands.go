// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package more

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Commands returns what stands for the commands of pipedeck-more in help and completion. They do not run anything. own
// are those below `plugin` that pipedeck runs itself, because they work where pipedeck-more is not.
func Commands(own ...*cobra.Command) []*cobra.Command {
	plugin := standIn("plugin", "Write, publish, sign, fetch and check plugins")
	plugin.AddCommand(own...)
	return []*cobra.Command{
		standIn("init [DIR]", "Write application configurations for a repository"),
		standIn("validate [PATH...]", "Check configuration files"),
		standIn("migrate PATH...", "Migrate configuration of PipeCD v0 to v1"),
		standIn("encrypt [NAME]", "Encrypt a secret for the environment's piped"),
		standIn("mcp", "Serve an environment to assistants"),
		plugin,
	}
}

// mark is the annotation of a stand-in.
const mark = "pipedeck.dev/program"

func standIn(use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Annotations: map[string]string{mark: program}, DisableFlagParsing: true,
		Run: func(*cobra.Command, []string) {}, // so that help lists it
	}
}

// about are the commands whose arguments are a command line.
var about = []string{"help", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}

// completes reports whether a shell asks for completions of a command line.
func completes(args []string) bool {
	return len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd)
}

// Find returns the stand-in that a command line of root runs, asks for help with or completes; nil for none.
func Find(root *cobra.Command, args []string) *cobra.Command {
	if len(args) > 1 && slices.Contains(about, args[0]) {
		if args[0] != "help" && len(args) == 2 {
			return nil // the name of a command is what is completed
		}
		args = args[1:]
	}
	found, _, err := root.Find(args)
	if err != nil || found.Annotations[mark] == "" {
		return nil
	}
	return found
}
