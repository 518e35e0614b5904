// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/text"
)

// appliedFlags are the flags that the process of an environment takes over when it is started again. The others are
// about clusters, which would be other ones.
var appliedFlags = []string{"plugin", "plugin-config", "piped", "piped-config", "live", "break"}

// difference is a flag that the user gives with another value than the running environment has.
type difference struct {
	// flag is its name. running is empty for none.
	flag, running, wanted string
}

// differences are those of one command.
type differences []difference

// differences compares the flags that the user gives with those of the running environment; was is nil when these are
// not known.
func (f *Flags) differences(running *workspace.Running, was *Flags) (all differences) {
	for _, flag := range startFlags {
		if was == nil || running.Restart == nil || !f.cmd.Flags().Changed(flag.name) {
			continue
		}
		before := flag.seenFrom(running.Restart.Directory, was)
		same := before
		if flag.name == "cluster" {
			same = append(slices.Clone(before), kinds(running.Clusters)...)
		}
		for i, value := range flag.seenFrom("", f) {
			if slices.Contains(same, value) {
				continue
			}
			d := difference{flag: flag.name, running: strings.Join(before, ", "), wanted: flag.values(f)[i]}
			if perPlugin(flag.name) {
				d.running = ofPlugin(before, value)
			}
			all = append(all, d)
		}
	}
	// Saving would deploy nothing.
	if f.live && !running.Live {
		all = append(all, difference{"live", "false", "true"})
	}
	return all
}

func perPlugin(flag string) bool { return flag == "plugin" || flag == "plugin-config" }

// ofPlugin returns the value for the same plugin; empty for none.
func ofPlugin(values []string, wanted string) string {
	name, _, _ := strings.Cut(wanted, "=")
	for _, value := range values {
		if strings.HasPrefix(value, name+"=") {
			return value
		}
	}
	return ""
}

// error lists the differences.
func (all differences) error(w *workspace.Workspace) error {
	var list strings.Builder
	fmt.Fprintf(&list, "environment %q is running with other flags:\n", w.Name)
	table := tabwriter.NewWriter(&list, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "  FLAG\tRUNNING\tWANTED")
	for _, d := range all {
		fmt.Fprintf(table, "  --%s\t%s\t%s\n", d.flag, text.Line(cmp.Or(d.running, "-")), text.Line(d.wanted))
	}
	_ = table.Flush() // into memory
	return errors.New(strings.TrimSuffix(list.String(), "\n"))
}

// applicable reports whether starting the process of the environment again makes the differences go away.
func (all differences) applicable() bool {
	return !slices.ContainsFunc(all, func(d difference) bool { return !slices.Contains(appliedFlags, d.flag) })
}

// nextStep is the command that applies the differences.
func (all differences) nextStep(f *Flags, w *workspace.Workspace, was *Flags, running *workspace.Running,
	args []string) string {
	if !all.applicable() || was == nil || running.Removes {
		return endFirst(w) + "; then " + f.startInstead(w, was, running, args) + "; or choose another --name"
	}
	command := "pipedeck up" + session.Flags(w) + " --apply"
	for _, argument := range append(f.changedArguments(), args...) {
		command += " " + text.ShellWord(argument)
	}
	return "start its process again with these flags, which keeps its clusters, history and keys: " + command +
		"; or choose another --name"
}
