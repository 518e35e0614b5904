// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package bundle runs one of several plugins that are one program, as releases have the bundled plugins: they share
// most of what they are made of. The sources keep a main for each plugin; tools/release generates the main that calls
// this package.
package bundle

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// NameVariable is the environment variable in which piped gives the name of the plugin's file.
const NameVariable = "PIPEDECK_PLUGIN_PROGRAM"

// copyOf is the name that piped gives to the copy of a plugin: PLUGIN-HASH.
var copyOf = regexp.MustCompile(`^(.+)-[0-9a-f]{16}$`)

// Main runs the plugin that the process was started as, by the name that piped gives, else by that of its file. Without
// such a plugin it ends the process with exit code 2.
func Main(plugins map[string]func()) {
	run, err := choose(plugins, os.Getenv(NameVariable), os.Args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	run()
}

func choose(plugins map[string]func(), given, program string) (func(), error) {
	started := filepath.Base(program)
	names := []string{given, started}
	if match := copyOf.FindStringSubmatch(started); match != nil {
		names = append(names, match[1])
	}
	for _, name := range names {
		if run, ok := plugins[name]; ok {
			return run, nil
		}
	}
	known := strings.Join(slices.Sorted(maps.Keys(plugins)), ", ")
	return nil, fmt.Errorf("%s: this program holds the plugins %s, and its name is none of them\n"+
		"next step: start it by a link with the name of the plugin, or set %s", started, known, NameVariable)
}
