// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package defaults

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// whyRefused ends the sentence about a flag that cannot be a default.
const whyRefused = "because it consents, deletes or acts in another name; give it on the command line"

// Refused reports whether a flag cannot be a default: a user has to give it each time.
func Refused(flag string) bool {
	return slices.Contains([]string{
		"yes", "all", "write", "force", "rollback", "no-rollback", "cascade", "orphan", "as", "delete", "prune",
		"generate-key", "no-password", "password",
	}, flag)
}

// ReadElsewhere reports whether the code behind a flag reads the variable itself, so that it keeps its meaning.
// PIPEDECK_OUTPUT is for streams of events only, whose --output is auto by default.
func ReadElsewhere(flag *pflag.Flag) bool {
	if flag.Name == "output" {
		return flag.DefValue == "auto"
	}
	return slices.Contains([]string{"theme", "ascii", "reduced-motion", "big", "keys"}, flag.Name)
}

// severalMeanings are names of flags that mean different things in different commands, of which one program does not
// know all. Package reference has the test.
var severalMeanings = []string{
	"output", "plugin", "piped", "piped-config", "context", "key", "file", "stage", "verbose", "with", "list",
}

// Common is the variable of a flag for all commands that have it.
func Common(flag string) string { return "PIPEDECK_" + variable(flag) }

// Variables returns the environment variables that set a flag of a command, the one that counts first at the begin.
func Variables(root, cmd *cobra.Command, flag *pflag.Flag) []string {
	names := []string{"PIPEDECK_" + variable(pathOf(cmd)) + "_" + variable(flag.Name)}
	if sameEverywhere(root, flag) || ReadElsewhere(flag) {
		names = append(names, Common(flag.Name))
	}
	return names
}

func variable(name string) string {
	return strings.ToUpper(strings.NewReplacer("-", "_", " ", "_").Replace(name))
}

// sameEverywhere reports whether all commands that have a flag of this name mean the same by it. Otherwise a value for
// all of them would be wrong for some.
func sameEverywhere(root *cobra.Command, flag *pflag.Flag) bool {
	return !slices.Contains(severalMeanings, flag.Name) && len(Meanings(root, flag.Name)) < 2
}

// Meanings returns the usages that the commands below root have for flags of one name.
func Meanings(root *cobra.Command, name string) []string {
	var usages []string
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, flags := range []*pflag.FlagSet{cmd.PersistentFlags(), cmd.Flags()} {
			flag := flags.Lookup(name)
			if flag != nil && !cmd.Hidden && !flag.Hidden && !slices.Contains(usages, flag.Usage) {
				usages = append(usages, flag.Usage)
			}
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(root)
	return usages
}
