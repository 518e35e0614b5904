// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/defaults"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// screenFlags are how the terminal UI looks. Each has an environment variable, which the flag overrides.
type screenFlags struct {
	theme string

	ascii, reducedMotion, big bool
	// cmd has the flags; nil for none.
	cmd *cobra.Command
}

func (f *screenFlags) register(cmd *cobra.Command) {
	f.cmd = cmd
	flags := cmd.Flags()
	flags.StringVar(&f.theme, "theme", "", strings.Join(theme.Names(), ", ")+" or a file; "+
		"default $PIPEDECK_THEME, else auto: dark or light like the terminal")
	flags.BoolVar(&f.ascii, "ascii", false, "draw with ASCII only; default $PIPEDECK_ASCII")
	flags.BoolVar(&f.reducedMotion, "reduced-motion", false,
		"no spinner, and durations grow every 10 s; default $PIPEDECK_REDUCED_MOTION")
	flags.BoolVar(&f.big, "big", false, "the stages or the log alone, for projectors; default $PIPEDECK_BIG")
}

// check finds a mistake in the flags; environment variables do not matter to it.
func (f *screenFlags) check() error {
	if _, err := theme.Choose(f.theme); f.theme != "" && err != nil {
		return exit.Usage(err, "choose another --theme")
	}
	return nil
}

// read sets the environment variables of the UI: those of the process with the flags over them.
func (f *screenFlags) read(into *[]string) error {
	environ := os.Environ()
	set := func(flag, variable, value string) {
		if f.cmd != nil && defaults.Given(f.cmd.Flags().Lookup(flag)) {
			environ = append(environ, variable+"="+value)
		}
	}
	number := func(b bool) string { return strconv.Itoa(map[bool]int{true: 1}[b]) }
	set("theme", "PIPEDECK_THEME", f.theme)
	set("ascii", "PIPEDECK_ASCII", number(f.ascii))
	set("reduced-motion", "PIPEDECK_REDUCED_MOTION", number(f.reducedMotion))
	set("big", "PIPEDECK_BIG", number(f.big))
	if _, err := theme.FromEnvironment(environ); err != nil {
		return exit.Usage(err, "choose another --theme or PIPEDECK_THEME")
	}
	*into = environ
	return nil
}
