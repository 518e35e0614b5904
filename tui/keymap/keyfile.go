// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package keymap

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/pipedeck/pipedeck/system/yamlplace"
)

const (
	// MaxSize bounds a key file, in bytes.
	MaxSize = 64 << 10
	// MaxMistakes bounds the mistakes that are reported of one.
	MaxMistakes = 20
	// maxKeys bounds the keys of one action.
	maxKeys = 8
)

// File is what a key file says.
type File struct {
	// Map is Default with the keys of the file. An action with a mistake keeps its built-in keys.
	Map Map
	// NeverAsk: actions start without a question. Tearing down asks all the same.
	NeverAsk bool
	// Mistakes are at most MaxMistakes and a count of the rest, in the order of their lines.
	Mistakes []Mistake
}

// Mistake is what is wrong at one place of a key file.
type Mistake struct {
	File string
	// Line and Column count from 1; both are 0 when the place is the whole file.
	Line, Column int
	// Field is the line's name, such as "global.sync"; empty for the whole file.
	Field   string
	Message string
}

// Error returns "file:line:column: field: message", without the parts that are not known.
func (m Mistake) Error() string {
	text := m.Message
	if m.Field != "" {
		text = m.Field + ": " + text
	}
	return place(m.File, m.Line, m.Column) + ": " + text
}

func place(file string, line, column int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d:%d", file, line, column)
}

// Parse reads a key file; name is used in messages only. It always returns a complete map.
func Parse(content []byte, name string) File {
	p := &keyFile{name: name}
	p.read(content)
	file := File{Map: p.merge(Default()), NeverAsk: p.never}
	if p.never {
		for i := range file.Map {
			file.Map[i].Asks = file.Map[i].Asks && file.Map[i].Action == Quit
		}
	}
	slices.SortStableFunc(p.mistakes, func(a, b Mistake) int {
		return slices.Compare([]int{a.Line, a.Column}, []int{b.Line, b.Column})
	})
	if more := len(p.mistakes) - MaxMistakes; more > 0 {
		p.mistakes = append(p.mistakes[:MaxMistakes],
			Mistake{File: name, Message: fmt.Sprintf("%d more mistakes are not shown", more)})
	}
	file.Mistakes = p.mistakes
	return file
}

// keyFile is a key file while it is read.
type keyFile struct {
	name     string
	never    bool
	entries  []entry
	mistakes []Mistake
}

// entry is a line with keys that are known.
type entry struct {
	address      string
	line, column int
	keys         []key
}

type key struct {
	name         string
	line, column int
}

func (p *keyFile) mistake(n *yaml.Node, field, format string, args ...any) {
	p.mistakes = append(p.mistakes, Mistake{File: p.name, Line: n.Line, Column: n.Column, Field: field,
		Message: fmt.Sprintf(format, args...)})
}

func (p *keyFile) read(content []byte) {
	if len(content) > MaxSize {
		p.mistake(&yaml.Node{}, "", "is larger than %d KiB", MaxSize>>10)
		return
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(content)))
	var document, second yaml.Node
	err := decoder.Decode(&document)
	if err != nil && !errors.Is(err, io.EOF) {
		line, problem := yamlplace.Of(content, err)
		p.mistake(&yaml.Node{Line: max(1, line), Column: 1}, "", "not valid YAML: %s", problem)
		return
	}
	if len(document.Content) == 0 {
		return
	}
	if decoder.Decode(&second) == nil {
		p.mistake(&second, "", "holds a second document; one file is enough")
		return
	}
	root := document.Content[0]
	switch {
	case root.Kind == yaml.ScalarNode && root.Tag == "!!null":
	case root.Kind != yaml.MappingNode:
		p.mistake(root, "", "is not a list of lines such as global.sync: [x]")
	default:
		p.lines(root.Content)
	}
}

// lines reads pairs of a name and a value.
func (p *keyFile) lines(pairs []*yaml.Node) {
	first := map[string]*yaml.Node{}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, value := pairs[i], pairs[i+1]
		if before := first[name.Value]; before != nil {
			p.mistake(name, name.Value, "stands at %s already", place(p.name, before.Line, before.Column))
			continue
		}
		first[name.Value] = name
		switch {
		case name.Value != "confirm":
			p.line(name, value)
		case value.Kind == yaml.ScalarNode && value.Value == "never":
			p.never = true
		case value.Kind != yaml.ScalarNode || value.Value != "ask":
			p.mistake(value, "confirm", "%q is not ask or never", value.Value)
		}
	}
}

// line reads the keys of one action.
func (p *keyFile) line(name, value *yaml.Node) {
	field := name.Value
	if wrong := unknown(field); wrong != "" {
		p.mistake(name, field, "%s", wrong)
		return
	}
	keys := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		keys = value.Content
	}
	switch {
	case len(keys) == 0:
		p.mistake(value, field, "names no key; the built-in key stays")
		return
	case len(keys) > maxKeys:
		p.mistake(value, field, "has %d keys; %d are the most", len(keys), maxKeys)
		return
	}
	context, _, _ := strings.Cut(field, ".")
	e := entry{address: field, line: name.Line, column: name.Column}
	for _, one := range keys {
		switch {
		case one.Kind != yaml.ScalarNode:
			p.mistake(one, field, "is not a list of keys, such as [x, ctrl+s]")
			return
		case !isKey(one.Value):
			p.mistake(one, field, "%q is not a key; keys are characters, and names such as enter, f5 or ctrl+s",
				one.Value)
			return
		case (context == "typing" || context == "actions") && isTyped(one.Value):
			p.mistake(one, field, "%q is typed there; use a key such as enter or ctrl+x", one.Value)
			return
		}
		e.keys = append(e.keys, key{one.Value, one.Line, one.Column})
	}
	p.entries = append(p.entries, e)
}

// unknown says why a line's name is not that of an action whose keys can change; empty when it is.
func unknown(field string) string {
	context, action, found := strings.Cut(field, ".")
	if !found {
		return "is not context.action, such as global.sync"
	}
	var names, actions, elsewhere []string
	for _, c := range contexts {
		names = append(names, c.name)
	}
	if !slices.Contains(names, context) {
		return fmt.Sprintf("there is no context %q; there are %s", context, strings.Join(names, ", "))
	}
	for _, b := range Default() {
		same := string(b.Action) == action
		switch {
		case b.context() == context && same && b.Fixed():
			return "cannot be changed"
		case b.context() == context && same:
			return ""
		case b.context() == context && !b.Fixed():
			actions = append(actions, string(b.Action))
		case same && !b.Fixed():
			elsewhere = append(elsewhere, b.Address())
		}
	}
	if len(elsewhere) > 0 {
		return fmt.Sprintf("context %s has no action %q; there is %s", context, action, strings.Join(elsewhere, ", "))
	}
	return fmt.Sprintf("context %s has no action %q; there are %s", context, action, strings.Join(actions, ", "))
}
