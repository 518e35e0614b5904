// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package complete

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	sampleapps "github.com/pipedeck/pipedeck/sample-apps"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// nothing offers nothing.
func nothing(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// files leaves files and directories to the shell.
func files(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// directories leaves directories to the shell.
func directories(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// values offers the values that there are.
func values(all ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// outputs are the values that --output may have.
var outputs = regexp.MustCompile(`\b(?:tui|plain|reader|wide|name|json|yaml|markdown|auto)\b`)

// words offers the values that the usage of --output names, which differ from command to command.
func words(usage string) cobra.CompletionFunc {
	found := outputs.FindAllString(usage, -1)
	slices.Sort(found)
	return values(slices.Compact(found)...)
}

// clusterKinds offers the kinds of clusters, also behind NAME=.
func clusterKinds(kinds ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		name, _, found := strings.Cut(typed, "=")
		if !found {
			return kinds, cobra.ShellCompDirectiveNoFileComp
		}
		var offered []cobra.Completion
		for _, kind := range kinds {
			offered = append(offered, name+"="+kind)
		}
		return offered, cobra.ShellCompDirectiveNoFileComp
	}
}

// samples offers the samples with their applications.
func samples(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var offered []cobra.Completion
	for _, s := range sampleapps.All() {
		offered = append(offered, cobra.CompletionWithDesc(s.Name, fmt.Sprintf("deploys %s",
			strings.Join(s.Folders, ", "))))
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}

// themes offers the built-in themes, and files once something else is typed.
func themes(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var offered []cobra.Completion
	for _, name := range theme.Names() {
		if strings.HasPrefix(name, typed) {
			offered = append(offered, name)
		}
	}
	if len(offered) == 0 {
		return files(nil, nil, typed)
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}

// bundled offers the plugins that every environment has.
func bundled(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return []cobra.Completion{"kubernetes", "wait", "waitapproval", "scriptrun"}, cobra.ShellCompDirectiveNoFileComp
}
