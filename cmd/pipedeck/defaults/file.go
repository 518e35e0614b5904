// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package defaults

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/pipedeck/pipedeck/system/inputfile"
	"github.com/pipedeck/pipedeck/system/owned"
	"github.com/pipedeck/pipedeck/system/yamlplace"
)

const (
	// maxSize bounds the configuration file, in bytes.
	maxSize = 64 << 10
	// maxMistakes bounds the mistakes that are reported.
	maxMistakes = 20
	// maxValues bounds the values of one flag.
	maxValues = 100
	// forAll is the section for all commands.
	forAll = "all"
)

// file holds the lines of a configuration file: by command, then by flag.
type file map[string]map[string]setting

// setting is one line of the file.
type setting struct {
	values []string
	at     place
}

// Mistakes are what is wrong with defaults.
type Mistakes struct {
	// List has the first ones.
	List []Mistake
	more int
}

// Mistake is what is wrong at one place.
type Mistake struct {
	// Name is that of a file or a variable.
	Name string
	// Line and Column count from 1; both are 0 for a variable and for the whole file.
	Line, Column int
	Message      string
}

func (m *Mistakes) Error() string {
	var lines []string
	for _, one := range m.List {
		lines = append(lines, place{one.Name, one.Line, one.Column}.String()+": "+one.Message)
	}
	if m.more > 0 {
		lines = append(lines, fmt.Sprintf("%d more mistakes are not shown", m.more))
	}
	return strings.Join(lines, "\n")
}

func (m *Mistakes) add(at place, format string, args ...any) {
	if len(m.List) == maxMistakes {
		m.more++
		return
	}
	m.List = append(m.List, Mistake{at.name, at.line, at.column, fmt.Sprintf(format, args...)})
}

// err is nil without a mistake.
func (m *Mistakes) err() error {
	if len(m.List) == 0 {
		return nil
	}
	return m
}

// load reads the configuration file and checks it against the commands. A file that is not there is empty.
func load(root *cobra.Command, from Source) (file, *Mistakes) {
	r := &reading{root: root, name: from.File, part: from.Part, mistakes: &Mistakes{}, into: file{}}
	if from.File == "" {
		return r.into, r.mistakes
	}
	content, err := content(from)
	if err != nil {
		r.mistakes.add(place{name: from.File}, "%s", err)
		return r.into, r.mistakes
	}
	r.read(content)
	return r.into, r.mistakes
}

// Check returns the mistakes in the content of a configuration file; name is used in messages. part is as in Source.
func Check(root *cobra.Command, content []byte, name string, part bool) *Mistakes {
	r := &reading{root: root, name: name, part: part, mistakes: &Mistakes{}, into: file{}}
	if len(content) > maxSize {
		r.mistakes.add(place{name: name}, "is larger than %d KiB", maxSize>>10)
		return r.mistakes
	}
	r.read(content)
	return r.mistakes
}

// content reads the file. What another user could have written is refused: it may name programs to run.
func content(from Source) ([]byte, error) {
	info, err := os.Stat(from.File)
	if errors.Is(err, fs.ErrNotExist) && !from.Named {
		return nil, nil
	}
	if err != nil {
		return nil, cause(err)
	}
	if err := owned.CheckOwner(from.File, info); err != nil {
		return nil, errors.New("belongs to another user, and could name programs to run")
	}
	if info.Mode().Perm()&0o002 != 0 {
		return nil, fmt.Errorf("can be written by all users; run: chmod o-w %s", from.File)
	}
	read, err := inputfile.Read(context.Background(), from.File, maxSize+1) // a regular file does not block
	if err != nil {
		return nil, cause(err)
	}
	if len(read) > maxSize {
		return nil, fmt.Errorf("is larger than %d KiB", maxSize>>10)
	}
	return read, nil
}

// cause is an error of the system without the path, which is said before.
func cause(err error) error {
	if known := (*fs.PathError)(nil); errors.As(err, &known) {
		return known.Err
	}
	return err
}

// reading is a configuration file while it is read.
type reading struct {
	root     *cobra.Command
	name     string
	part     bool
	mistakes *Mistakes
	into     file
}

func (r *reading) mistake(at *yaml.Node, format string, args ...any) {
	r.mistakes.add(r.at(at), format, args...)
}

func (r *reading) at(n *yaml.Node) place { return place{r.name, n.Line, n.Column} }

func (r *reading) read(content []byte) {
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		line, problem := yamlplace.Of(content, err)
		r.mistake(&yaml.Node{Line: max(1, line), Column: 1}, "not valid YAML: %s", problem)
		return
	}
	if len(document.Content) == 0 || document.Content[0].Tag == "!!null" {
		return
	}
	commands := r.commands()
	r.pairs(document.Content[0], "commands, such as up: {theme: light}", func(name, value *yaml.Node) {
		command, known := commands[name.Value]
		switch {
		case known:
			r.section(name.Value, command, value)
		case r.part && !r.belowOwn(name.Value):
		case !r.elsewhere(name.Value):
			r.mistake(name, "there is no command %q%s", name.Value, nearest(name.Value, keys(commands)))
		}
	})
}

// commands are those that take defaults, with all of them as "all".
func (r *reading) commands() map[string]*cobra.Command {
	commands := map[string]*cobra.Command{forAll: r.root}
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			if !sub.Hidden {
				commands[pathOf(sub)] = sub
				visit(sub)
			}
		}
	}
	visit(r.root)
	return commands
}

// elsewhere reports whether a command, such as "plugin test", is below one whose flags another program knows.
func (r *reading) elsewhere(name string) bool {
	for _, cmd := range r.root.Commands() {
		if cmd.DisableFlagParsing && strings.HasPrefix(name, cmd.Name()+" ") {
			return true
		}
	}
	return false
}

// belowOwn reports whether a command would be below one of this program, which then knows all of them.
func (r *reading) belowOwn(name string) bool {
	for _, cmd := range r.root.Commands() {
		if cmd.HasSubCommands() && strings.HasPrefix(name, cmd.Name()+" ") {
			return true
		}
	}
	return false
}

// section reads the flags of a command.
func (r *reading) section(section string, cmd *cobra.Command, value *yaml.Node) {
	if cmd.DisableFlagParsing {
		return // another program checks them
	}
	flags := map[string]*pflag.Flag{}
	if section == forAll {
		for _, each := range r.commands() {
			for _, flag := range flagsOf(each) {
				flags[flag.Name] = flag
			}
		}
	} else {
		for _, flag := range flagsOf(cmd) {
			flags[flag.Name] = flag
		}
	}
	r.into[section] = map[string]setting{}
	r.pairs(value, "flags, such as theme: light", func(name, value *yaml.Node) {
		switch flag := flags[name.Value]; {
		case Refused(name.Value):
			r.mistake(name, "%s: %s cannot be a default, %s", section, name.Value, whyRefused)
		case flag == nil && section == forAll && r.part:
		case flag == nil:
			r.mistake(name, "%s: there is no flag %q%s", section, name.Value, nearest(name.Value, keys(flags)))
		case section == forAll && !sameEverywhere(r.root, flag):
			r.mistake(name, "all: %s differs from command to command; set it for a command", name.Value)
		default:
			values, ok := r.values(section, name, value)
			if !ok {
				return
			}
			if err := check(flag, values); err != nil {
				r.mistake(value, "%s is not a value of --%s: %s", strings.Join(values, ", "), name.Value, err)
				return
			}
			r.into[section][name.Value] = setting{values, r.at(value)}
		}
	})
}

// values reads a scalar, a list, or pairs as KEY=VALUE.
func (r *reading) values(section string, name, value *yaml.Node) (values []string, ok bool) {
	nodes := []*yaml.Node{value}
	switch value.Kind {
	case yaml.SequenceNode:
		nodes = value.Content
	case yaml.MappingNode:
		nodes = nil
		for i := 0; i+1 < len(value.Content); i += 2 {
			pair := *value.Content[i+1]
			pair.Value = value.Content[i].Value + "=" + pair.Value
			nodes = append(nodes, &pair)
		}
	}
	if len(nodes) > maxValues {
		r.mistake(value, "%s: %s has %d values; %d are the most", section, name.Value, len(nodes), maxValues)
		return nil, false
	}
	for _, node := range nodes {
		if node.Kind != yaml.ScalarNode || node.Tag == "!!null" {
			r.mistake(node, "%s: %s has no value, or one that is neither text, number nor true or false", section,
				name.Value)
			return nil, false
		}
		values = append(values, node.Value)
	}
	return values, true
}

// pairs calls read for each line of a mapping.
func (r *reading) pairs(n *yaml.Node, what string, read func(name, value *yaml.Node)) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.mistake(n, "want a mapping of %s", what)
		return
	}
	first := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		if before := first[name.Value]; before != nil {
			r.mistake(name, "%s stands at %s already", name.Value, r.at(before))
			continue
		}
		first[name.Value] = name
		read(name, n.Content[i+1])
	}
}

func keys[V any](m map[string]V) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
