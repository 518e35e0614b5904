// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/pluginhost/reattach"
)

// reattached checks the processes that piped reads from the environment of the command. A piped that the user gives is
// checked by itself.
func reattached(plugins []workspace.Plugin, piped string) error {
	text := os.Getenv(reattach.Variable)
	if text == "" || piped != "" {
		return nil
	}
	targets, err := reattach.ParseAll(text)
	if err != nil {
		return exit.Usage(fmt.Errorf("%s: %w", reattach.Variable, err), "correct it, or run: unset "+reattach.Variable)
	}
	var names []string
	for _, p := range plugins {
		names = append(names, p.Name)
	}
	for _, target := range targets {
		if !slices.Contains(names, target.Plugin) {
			return exit.Usage(fmt.Errorf("%s: no plugin is named %s", reattach.Variable, target.Plugin),
				"give one of: "+strings.Join(names, ", ")+"; or add it: --plugin "+target.Plugin+"=DIR")
		}
	}
	return nil
}
