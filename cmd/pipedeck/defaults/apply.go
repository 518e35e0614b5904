// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package defaults

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// FileVariable names another configuration file.
const FileVariable = "PIPEDECK_CONFIG"

// Source is where defaults come from.
type Source struct {
	// Environ are environment variables, each "NAME=value".
	Environ []string
	// File is the path of the configuration file; empty for none.
	File string
	// Named is set when the user has named the file, so that it has to exist.
	Named bool
	// Part is set for a program that has only some of the commands. The file may name commands that it does not know.
	Part bool
}

// OfUser returns the variables of this process and the file of its user.
func OfUser() Source {
	s := Source{Environ: os.Environ()}
	if s.File = os.Getenv(FileVariable); s.File != "" {
		s.Named = true
	} else if dir, err := os.UserConfigDir(); err == nil { // without HOME, there is no place for the file
		s.File = filepath.Join(dir, "pipedeck", "config.yaml")
	}
	return s
}

// variable returns the value of an environment variable; an empty one is as if it was not set.
func (s Source) variable(name string) string {
	value := ""
	for _, line := range s.Environ {
		if v, ok := strings.CutPrefix(line, name+"="); ok {
			value = v // the last one counts
		}
	}
	return value
}

// Apply gives the flags of the command that args run, complete or ask for help with their defaults. The error is
// *Mistakes.
func Apply(root *cobra.Command, args []string, from Source) error {
	cmd, informs := called(root, args)
	if cmd != nil && cmd.Hidden {
		return nil
	}
	if informs {
		// Help and completion show what they can, whatever is wrong.
		_ = apply(root, cmd, from)
		return nil
	}
	if err := apply(root, cmd, from); err != nil {
		return err
	}
	return nil
}

func apply(root, cmd *cobra.Command, from Source) error {
	file, mistakes := load(root, from)
	if cmd != nil {
		s := &setter{root: root, cmd: cmd, from: from, file: file, mistakes: mistakes}
		for _, flag := range flagsOf(cmd) {
			s.set(flag)
		}
	}
	return mistakes.err()
}

// called returns the command that a command line is about; nil for none. informs is set for help and completion, and
// for commands that say what is there.
func called(root *cobra.Command, args []string) (cmd *cobra.Command, informs bool) {
	switch {
	case len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd):
		args, informs = args[1:max(1, len(args)-1)], true
	case len(args) > 0 && args[0] == "help":
		args, informs = args[1:], true
	case slices.Contains(args, "--help"), slices.Contains(args, "-h"), slices.Contains(args, "--version"):
		informs = true
	}
	found, _, err := root.Find(args)
	if err != nil {
		return nil, informs
	}
	switch pathOf(found) {
	case "", "version", "help":
		informs = true
	}
	return found, informs || found.HasParent() && found.Parent().Name() == "completion"
}

// pathOf is a command as users type it, without the program's name.
func pathOf(cmd *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()), " ")
}

// flagsOf returns the flags of a command that users know, with those of all commands.
func flagsOf(cmd *cobra.Command) (flags []*pflag.Flag) {
	take := func(flag *pflag.Flag) {
		if !flag.Hidden && flag.Name != "help" && flag.Name != "version" {
			flags = append(flags, flag)
		}
	}
	cmd.LocalFlags().VisitAll(take)
	cmd.InheritedFlags().VisitAll(take)
	return flags
}

// setter sets the flags of one command.
type setter struct {
	root, cmd *cobra.Command
	from      Source
	file      file
	mistakes  *Mistakes
}

// set gives a flag its default.
func (s *setter) set(flag *pflag.Flag) {
	names := Variables(s.root, s.cmd, flag)
	if Refused(flag.Name) {
		names = append(names, Common(flag.Name)) // so that it is refused, too
	}
	for _, name := range names {
		value := s.from.variable(name)
		switch {
		case value == "":
			continue
		case Refused(flag.Name):
			s.mistakes.add(place{name: name}, "--%s cannot be a default, %s", flag.Name, whyRefused)
		case name == Common(flag.Name) && ReadElsewhere(flag):
		default:
			command := name != Common(flag.Name)
			if err := assign(flag, lines(flag, value), command); err != nil {
				s.mistakes.add(place{name: name}, "%q is not a value of --%s: %s", value, flag.Name, err)
			}
		}
		return
	}
	for _, section := range []string{pathOf(s.cmd), forAll} {
		line, ok := s.file[section][flag.Name]
		if !ok || section == forAll && !sameEverywhere(s.root, flag) {
			continue
		}
		if err := assign(flag, line.values, section != forAll); err != nil {
			s.mistakes.add(line.at, "%s is not a value of --%s: %s", strings.Join(line.values, ", "), flag.Name, err)
		}
		return
	}
}

// lines splits the value of a variable for a flag that can be repeated.
func lines(flag *pflag.Flag, value string) []string {
	if _, many := flag.Value.(pflag.SliceValue); many {
		return strings.Split(strings.TrimSuffix(value, "\n"), "\n")
	}
	return []string{value}
}

const (
	// given marks a flag whose default was set; the value says whether for this command only.
	given      = "pipedeck.dev/default"
	forCommand = "command"
)

// assign makes values the default of a flag.
func assign(flag *pflag.Flag, values []string, command bool) error {
	if many, ok := flag.Value.(pflag.SliceValue); ok {
		if err := many.Replace(values); err != nil {
			return err
		}
	} else {
		for _, value := range values {
			if err := flag.Value.Set(value); err != nil {
				return err
			}
		}
	}
	flag.DefValue = flag.Value.String()
	if flag.Annotations == nil {
		flag.Annotations = map[string][]string{}
	}
	flag.Annotations[given] = []string{map[bool]string{true: forCommand, false: forAll}[command]}
	return nil
}

// Given reports whether the user has set a flag: on the command line, in a variable or in the file.
func Given(flag *pflag.Flag) bool {
	return flag != nil && (flag.Changed || len(flag.Annotations[given]) > 0)
}

// Set reports whether a flag has another default than the built-in one.
func Set(flag *pflag.Flag) bool { return flag != nil && len(flag.Annotations[given]) > 0 }

// GivenForCommand is Given without the defaults that are for all commands.
func GivenForCommand(flag *pflag.Flag) bool {
	return flag != nil && (flag.Changed || slices.Contains(flag.Annotations[given], forCommand))
}

// Hint is the next step after Mistakes.
const Hint = "correct it; docs/environment-variables.md lists what can be set"

// place is where a mistake is.
type place struct {
	// name is a file or a variable.
	name         string
	line, column int
}

func (p place) String() string {
	if p.line == 0 {
		return p.name
	}
	return fmt.Sprintf("%s:%d:%d", p.name, p.line, p.column)
}
