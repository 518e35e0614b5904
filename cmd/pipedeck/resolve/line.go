// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/text"
)

// Line is the command line that a user has typed, and the state of the environment that its words are about.
type Line struct {
	State *session.State
	// path is the command with its parents, args its arguments, options the flags that are set.
	path    string
	args    []string
	options []option
	// flags name the environment.
	flags string
	// whole: a name has to be written whole.
	whole bool
}

// option is a flag that is set; the value of a switch is empty.
type option struct{ name, value string }

// New returns the command line of a command of a session.
func New(s *session.Session, cmd *cobra.Command, args []string) *Line {
	l := &Line{State: s.State, path: cmd.CommandPath(), args: args, flags: s.Flags}
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		switch {
		case !f.Changed:
		case f.Value.Type() == "bool":
			l.options = append(l.options, option{name: f.Name})
		default:
			l.options = append(l.options, option{f.Name, f.Value.String()})
		}
	})
	return l
}

// NewChange is New for a command that changes something: names have to be whole there. The beginning of a name that
// fits one thing today may fit another tomorrow, when the first is gone. The beginning of an id names nothing else.
func NewChange(s *session.Session, cmd *cobra.Command, args []string) *Line {
	l := New(s, cmd, args)
	l.whole = true
	return l
}

// Word is one argument, or the value of one flag.
type Word struct {
	line *Line
	// Text is what the user has typed.
	Text string
	// flag is the name of the flag; empty for an argument, which is at the place argument.
	flag     string
	argument int
}

// Args returns the arguments.
func (l *Line) Args() []string { return l.args }

// Argument returns an argument, counted from 0.
func (l *Line) Argument(i int) Word { return Word{line: l, Text: l.args[i], argument: i} }

// Flag returns the value of a flag that is set.
func (l *Line) Flag(name, value string) Word { return Word{line: l, Text: value, flag: name} }

// Command returns the command line with other arguments, as a user can paste it.
func (l *Line) Command(args ...string) string { return l.command(args, l.options) }

// CommandWith returns the command line with other arguments and another value of a flag.
func (l *Line) CommandWith(flag, value string, args ...string) string {
	var options []option
	for _, o := range l.options {
		if o.name != flag {
			options = append(options, o)
		}
	}
	return l.command(args, append(options, option{flag, value}))
}

func (l *Line) command(args []string, options []option) string {
	named, flags := "", ""
	for _, argument := range args {
		named += " " + text.ShellWord(argument)
	}
	for _, o := range options {
		flags += " --" + o.name
		if o.value != "" {
			flags += " " + text.ShellWord(o.value)
		}
	}
	flags += l.flags
	if slices.ContainsFunc(args, func(argument string) bool { return strings.HasPrefix(argument, "-") }) {
		return l.path + flags + " --" + named // never an id, but names may begin so
	}
	return l.path + named + flags
}

// with returns the command line with another word in this place.
func (w Word) with(other string) string {
	if w.flag != "" {
		return w.line.CommandWith(w.flag, other, w.line.args...)
	}
	args := append([]string{}, w.line.args...)
	args[w.argument] = other
	return w.line.command(args, w.line.options)
}
