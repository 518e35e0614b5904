// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package complete

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

// Add makes the commands below root complete their arguments and flags. t is the environment that their flags name.
func Add(root *cobra.Command, t *session.Target) {
	// Nothing by default: the files of the working directory are wrong nearly everywhere.
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	a := &adder{arguments: arguments(t), flags: flags(t)}
	a.add(root, map[*pflag.Flag]bool{})
}

type adder struct {
	arguments map[string][]cobra.CompletionFunc
	flags     map[string]cobra.CompletionFunc
}

// add completes a command and those below it. done are flags that commands share.
func (a *adder) add(cmd *cobra.Command, done map[*pflag.Flag]bool) {
	if offers := a.arguments[path(cmd)]; offers != nil && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = inOrder(offers)
	}
	own := func(flag *pflag.Flag) {
		if done[flag] {
			return
		}
		done[flag] = true
		if offer := a.offer(cmd, flag); offer != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag.Name, offer) // the flag exists
		}
	}
	cmd.PersistentFlags().VisitAll(own)
	cmd.Flags().VisitAll(own)
	for _, sub := range cmd.Commands() {
		a.add(sub, done)
	}
}

// offer returns what completes the value of a flag; nil for nothing.
func (a *adder) offer(cmd *cobra.Command, flag *pflag.Flag) cobra.CompletionFunc {
	for _, key := range []string{path(cmd) + " --" + flag.Name, "--" + flag.Name} {
		if offer := a.flags[key]; offer != nil {
			return offer
		}
	}
	if flag.Name == "output" {
		return words(flag.Usage)
	}
	switch placeholder, _ := pflag.UnquoteUsage(flag); strings.TrimRight(placeholder, ".") {
	case "FILE", "PATH":
		return files
	case "DIR", "DIRECTORY":
		return directories
	case "NAME=PATH", "NAME=FILE", "OS/ARCH=PATH":
		return named(nil)
	}
	return nil
}

// path is the command as users type it, without the program's name.
func path(cmd *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()), " ")
}

// inOrder offers for each argument what stands at its place; the last offer is repeated when it is followed by nil.
func inOrder(offers []cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		at := len(args)
		if last := len(offers) - 1; offers[last] == nil && at >= last {
			at = last - 1
		}
		if at >= len(offers) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offers[at](cmd, args, typed)
	}
}
