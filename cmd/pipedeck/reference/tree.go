// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package reference

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/configuration"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/mcp"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/plugin"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/root"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

// Tree returns the root command with all others, as users see them: the commands of pipedeck-more are in the places of
// those that stand for them.
func Tree() *cobra.Command {
	t := &session.Target{}
	whole := root.New(t)
	for _, other := range append(configuration.Commands(t), plugin.NewCommand(t), mcp.NewCommand(t)) {
		for _, cmd := range whole.Commands() {
			if cmd.Name() == other.Name() {
				whole.RemoveCommand(cmd)
			}
		}
		whole.AddCommand(other)
	}
	// The version of a build is no part of the reference.
	whole.Version = ""
	return whole
}

// path is a command as users type it.
func path(cmd *cobra.Command) string { return cmd.CommandPath() }

// shown returns a command and those below it that users know, in the order of their names.
func shown(cmd *cobra.Command) (all []*cobra.Command) {
	if cmd.Hidden || cmd.Name() == "help" {
		return nil
	}
	all = append(all, cmd)
	for _, sub := range cmd.Commands() {
		all = append(all, shown(sub)...)
	}
	return all
}

// anchor is the link to a heading on a page.
func anchor(heading string) string {
	return "#" + strings.NewReplacer(" ", "-", "|", "", "[", "", "]", "").Replace(strings.ToLower(heading))
}
