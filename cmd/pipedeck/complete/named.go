// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package complete

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// named completes NAME=PATH: the names of offer, unless that is nil, then the files and directories behind the equals
// sign. A shell cannot list them, because for it all of this is one word.
func named(offer cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		const more = cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
		name, path, found := strings.Cut(typed, "=")
		if found {
			offered, directory := paths(name+"=", path)
			if directory {
				return offered, more
			}
			return offered, cobra.ShellCompDirectiveNoFileComp
		}
		if offer == nil {
			return nil, more
		}
		names, _ := offer(cmd, args, typed)
		for i, one := range names {
			value, description, described := strings.Cut(one, "\t")
			names[i] = value + "="
			if described {
				names[i] = cobra.CompletionWithDesc(value+"=", description)
			}
		}
		return names, more
	}
}

// maxPaths bounds the files of one directory that are offered.
const maxPaths = 1000

// paths returns the files and directories that begin with a path, each behind a prefix, and whether one of them is a
// directory, behind which typing goes on.
func paths(prefix, typed string) (found []cobra.Completion, directory bool) {
	dir, begin := filepath.Split(typed)
	look := dir
	if rest, home := strings.CutPrefix(dir, "~/"); home {
		if at, err := os.UserHomeDir(); err == nil {
			look = filepath.Join(at, rest)
		}
	}
	opened, err := os.Open(filepath.Join(look, "."))
	if err != nil {
		return nil, false
	}
	defer opened.Close()
	entries, _ := opened.ReadDir(maxPaths) // what was read before an error is offered
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasPrefix(name, begin) || strings.HasPrefix(name, ".") && begin == "" ||
			strings.ContainsAny(name, "\n\t") {
			continue
		}
		if info, err := os.Stat(filepath.Join(look, name)); err == nil && info.IsDir() {
			name += "/"
			directory = true
		}
		found = append(found, prefix+dir+name)
	}
	return found, directory
}
