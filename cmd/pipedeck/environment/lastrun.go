// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/text"
)

// takeLastRun gives the flags the values of the environment's last run that the user's flags do not replace, as --apply
// does for a running one: the repositories, keys and plugins of a kept environment are those of its flags. args is the
// repository that the user named, if any. It returns a line for the user, empty when nothing was taken. A run on
// another repository gives nothing, since its flags were for that one; the line names them.
func takeLastRun(f *Flags, w *workspace.Workspace, args []string) (note string, err error) {
	last, err := w.LastRun()
	if err != nil || f.cmd == nil {
		return "", nil // no run has come so far, or its file is damaged: the flags of the user count alone
	}
	was := startedWith(last)
	if was == nil {
		return "", nil
	}
	flags := slices.DeleteFunc(f.keptArguments(was, last.Restart.Directory), func(flag string) bool {
		// What auto chose is known to the check of the clusters; the default may be another one by now. A consent was
		// to a cluster, and the current context may be another one by now.
		return flag == "--cluster="+string(clusterAuto) || flag == "--yes" && was.context == "" ||
			slices.Contains(f.arguments(), flag)
	})
	if len(flags) == 0 {
		return "", nil
	}
	same, before := watchesSame(f, was, last, args)
	if !same {
		flags = slices.DeleteFunc(flags, func(flag string) bool { return !isApplied(flag) })
		if len(flags) == 0 {
			return "", nil
		}
		return fmt.Sprintf("the last run of environment %q watched %s; its flags do not apply now: %s", w.Name,
			text.Line(before), words(flags)), nil
	}
	if err := f.cmd.ParseFlags(flags); err != nil {
		return "", fmt.Errorf("read the flags of the last run of environment %q: %w", w.Name, err)
	}
	return fmt.Sprintf("environment %q starts with the flags of its last run: %s", w.Name, words(flags)), nil
}

// watchesSame reports whether the user asks for the repository of the last run, and names that.
func watchesSame(f, was *Flags, last *workspace.Running, args []string) (same bool, before string) {
	asked, err := f.chooseSource(args)
	if err != nil {
		return false, "another repository" // which is reported where it is opened
	}
	if len(was.samples) > 0 {
		return asked.dir == "", "samples"
	}
	before = absolute(last.Restart.Directory, cmp.Or(strings.Join(was.cmd.Flags().Args(), ""), "."))
	if repository, err := workspace.OpenRepository(before); err == nil {
		before = repository.Root
	}
	return asked.dir == before, before
}

// isApplied reports whether a flag is one of appliedFlags.
func isApplied(argument string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(argument, "--"), "=")
	return slices.Contains(appliedFlags, name)
}

// words are arguments as a user types them.
func words(arguments []string) string {
	var all []string
	for _, argument := range arguments {
		all = append(all, text.ShellWord(argument))
	}
	return strings.Join(all, " ")
}
