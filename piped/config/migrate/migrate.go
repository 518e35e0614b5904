// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/pipedeck/pipedeck/piped/config"
)

// Options of a migration.
type Options struct {
	// PluginURLs are the URLs of the plugins' binaries by plugin name. PipeCD v0 had none, so a
	// placeholder and a note stand in for those that are not here.
	PluginURLs map[string]string
}

// Result is a migrated file.
type Result struct {
	// Content is the whole file. It is the source itself when nothing was to be done.
	Content []byte
	Changed bool
	// Notes are what could not be carried over and what has to be filled in, in the order of the source.
	Notes []Note
}

// Note is one thing that a user has to know about.
type Note struct {
	// Line counts from 1 in the source.
	Line int
	// Field is the path in the source, such as "spec.input.helmChart.gitRemote".
	Field   string
	Message string
}

// File migrates a piped or an application configuration; filename is used in messages only. Files that are not
// configuration, and forms of YAML that cannot be rewritten, come back as [config.Errors]. Other mistakes of the
// source, such as a placeholder in place of a key, stay and are notes; the result has no others.
func File(data []byte, filename string, options Options) (*Result, error) {
	second := secondDocument(string(data), filename)
	mistakes, err := checkSource(data, filename)
	switch {
	case err != nil && second != nil:
		return nil, second
	case err != nil:
		return nil, err
	}
	m := &migration{options: options, mistakes: mistakes}
	for _, e := range mistakes {
		m.notes = append(m.notes, Note{Line: e.Line, Field: e.Field,
			Message: "stays as it is, which is a mistake: " + e.Message})
	}
	text, restore := normalize(string(data))
	root, end, err := parse(text, filename)
	if err != nil {
		return nil, err
	}
	m.root = root
	if stop := m.run(); stop != nil {
		return nil, config.Errors{{File: filename, Line: stop.line, Column: 1, Field: stop.field,
			Message: stop.message}}
	}
	if !m.changed {
		return &Result{Content: data, Notes: m.sortedNotes()}, nil
	}
	if second != nil {
		return nil, second
	}
	r := &renderer{}
	r.mapping(root, root.indent)
	rewritten := strings.Join(append(r.lines, end...), "\n")
	if json.Valid([]byte(text)) {
		if rewritten, err = asJSON(rewritten, text); err != nil {
			return nil, config.Errors{{File: filename, Message: err.Error()}}
		}
	}
	content := []byte(restore(rewritten))
	if err := m.verify(data, content, filename); err != nil {
		return nil, err
	}
	return &Result{Content: content, Changed: true, Notes: m.sortedNotes()}, nil
}

// migration is the work on one file.
type migration struct {
	options Options
	root    *mapping
	changed bool
	notes   []Note
	// mistakes are those of the source that the result may have as well.
	mistakes config.Errors
	// removed are paths of the source, and added are values, by which the result differs from it.
	removed [][]any
	added   []string
}

// stop is a form that keeps a file from being rewritten.
type stop struct {
	line           int
	field, message string
}

func (m *migration) run() *stop {
	kind, spec := m.root.find("kind"), m.root.find("spec")
	switch {
	case kind.text() == config.KindPiped:
		return m.piped(spec)
	case slices.Contains(config.ApplicationKinds(), kind.text()):
		return m.application(kind, spec)
	}
	return nil // Other kinds are the same in both versions.
}

func (m *migration) note(line int, path []any, format string, args ...any) {
	m.notes = append(m.notes, Note{Line: line, Field: field(path), Message: fmt.Sprintf(format, args...)})
}

func (m *migration) sortedNotes() []Note {
	slices.SortStableFunc(m.notes, func(a, b Note) int { return cmp.Compare(a.Line, b.Line) })
	return m.notes
}

// drop takes an entry of the source out for good.
func (m *migration) drop(from *mapping, e *entry) {
	from.drop(e)
	m.removed = append(m.removed, e.path)
	m.changed = true
}

// replace changes the scalar of an entry of the source.
func (m *migration) replace(e *entry, value string) {
	m.removed, m.added = append(m.removed, e.path), append(m.added, value)
	e.setScalar(value)
	m.changed = true
}

// scalar is a new entry with text that needs no quotes, or a number.
func (m *migration) scalar(key, value string) *entry {
	m.added = append(m.added, value)
	return newScalar(key, value)
}

// text is a new entry with any text.
func (m *migration) text(key, value string) *entry {
	m.added = append(m.added, value)
	e := newScalar(key, quote(value))
	e.value = value
	return e
}

var plainText = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_./:-]*[A-Za-z0-9_/-]$`)

// quote writes text as a YAML scalar.
func quote(text string) string {
	if plainText.MatchString(text) && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off"},
		strings.ToLower(text)) {
		return text
	}
	quoted, err := json.Marshal(text) // JSON text is YAML.
	if err != nil {
		return `""`
	}
	return string(quoted)
}

// checkSource refuses what cannot be read, and returns the mistakes of single keys that are not those of its age.
func checkSource(data []byte, filename string) (config.Errors, error) {
	report := config.Check(data, filename)
	var mistakes config.Errors
	unread := report.Kind == ""
	for _, e := range report.Errors {
		if !slices.Contains(report.V0, e) {
			mistakes = append(mistakes, e)
			unread = unread || e.Field == "" || e.Field == "apiVersion"
		}
	}
	if unread && len(mistakes) > 0 {
		return nil, mistakes
	}
	return mistakes, nil
}

// secondDocument returns the error of a file in which a mark begins a second document; nil for every other file.
func secondDocument(text, filename string) error {
	begun := false
	for number, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
		line = strings.TrimRight(line, " \t\r")
		isMark := line == "---" || strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "---\t")
		switch {
		case isMark && begun:
			return config.Errors{{File: filename, Line: number + 1, Column: 1,
				Message: "begins a second YAML document, and one file configures one thing: write each document to a " +
					"separate file, then migrate those files"}}
		case isMark, line != "" && !strings.HasPrefix(strings.TrimLeft(line, " \t"), "#"):
			begun = true
		}
	}
	return nil
}

// isOld reports whether the source has the mistake as well.
func (m *migration) isOld(e *config.Error) bool {
	return slices.ContainsFunc(m.mistakes, func(old *config.Error) bool {
		return old.Field == e.Field &&
			old.Message == e.Message
	})
}

// normalize takes off what every line or the whole file has, and returns how to put it on again.
func normalize(text string) (string, func(string) string) {
	const mark = "\ufeff"
	before, after := "", ""
	if strings.HasPrefix(text, mark) {
		before, text = mark, strings.TrimPrefix(text, mark)
	}
	newline := "\n"
	if strings.Contains(text, "\r\n") {
		newline, text = "\r\n", strings.ReplaceAll(text, "\r\n", "\n")
	}
	if strings.HasSuffix(text, "\n") {
		after, text = newline, strings.TrimSuffix(text, "\n")
	}
	return text, func(text string) string { return before + strings.ReplaceAll(text, "\n", newline) + after }
}

// parse cuts the file into its keys; end are the lines from the mark of the document's end on.
func parse(text, filename string) (m *mapping, end []string, err error) {
	refuse := func(n *yaml.Node, message string) error {
		at := &config.Error{File: filename, Line: 1, Column: 1, Message: message + "; rewrite this by hand first"}
		if n != nil {
			at.Line, at.Column = n.Line, n.Column
		}
		return config.Errors{at}
	}
	if strings.ContainsAny(text, "\r\u0085\u2028\u2029") {
		return nil, nil, refuse(nil, "holds line breaks other than line feeds, which are not rewritten")
	}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return nil, nil, refuse(nil, "cannot be rewritten: "+err.Error())
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode ||
		len(document.Content[0].Content) == 0 {
		return nil, nil, refuse(nil, "cannot be rewritten: it holds no keys")
	}
	root := document.Content[0]
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i > 0 && (blank(lines[i]) || comment(lines[i]) ||
		strings.HasPrefix(lines[i], "...")); i-- {
		if strings.HasPrefix(lines[i], "...") {
			lines, end = lines[:i], lines[i:]
			break
		}
	}
	if root.Style&yaml.FlowStyle != 0 {
		written, fresh := block(root)
		if fresh == nil {
			return nil, nil, refuse(root, "is written in braces and holds anchors or aliases, which are not rewritten")
		}
		m = (&parser{lines: written}).mapping(fresh, 0, len(written), nil)
		m.adopt(root)
		m.entries[0].lead = lines[:root.Line-1]
		return m, end, nil
	}
	p := &parser{lines: lines}
	m = p.mapping(root, 0, len(lines), nil)
	if p.stop != nil {
		return nil, nil, refuse(p.stop, "is a form of YAML that is not rewritten")
	}
	return m, end, nil
}

// verify makes sure that the result is right, and that it holds the values of the source.
func (m *migration) verify(source, content []byte, filename string) error {
	report := config.Check(content, filename)
	problem := slices.DeleteFunc(slices.Clone(report.Errors), m.isOld)
	again, _ := normalize(string(content))
	if _, _, err := parse(again, filename); len(problem) == 0 && errors.As(err, &problem) {
		problem = slices.Clone(problem) // The two libraries for YAML disagree about the form.
	}
	if len(problem) == 0 && len(report.V0) > 0 {
		problem = report.V0
	}
	if len(problem) == 0 {
		before, err := leaves(source, m.removed)
		if err != nil {
			return err
		}
		for _, value := range m.added {
			before[value]++
		}
		after, err := leaves(content, nil)
		if err != nil {
			return err
		}
		if value, ok := difference(before, after); ok {
			problem = config.Errors{{File: filename, Message: fmt.Sprintf("the value %s would not be the same", value)}}
		}
	}
	if len(problem) == 0 {
		return nil
	}
	return config.Errors{{File: filename, Field: problem[0].Field,
		Message: "cannot be rewritten safely, which anchors, aliases or blanks around values can cause: " +
			problem[0].Message + "; write the sections that move in the plain form and run it again"}}
}

// leaves counts the scalars of a file, but for those below the paths.
func leaves(data []byte, without [][]any) (map[string]int, error) {
	text, err := config.JSON(data, "")
	if err != nil {
		return nil, err
	}
	var root any
	if err := json.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	counts := map[string]int{}
	count(root, 1, counts)
	for i, path := range without {
		counted := slices.ContainsFunc(without[:i], func(other []any) bool { return slices.Equal(path, other) })
		if counted || slices.ContainsFunc(without, func(other []any) bool { return inside(path, other) }) {
			continue // Counted with what is around it.
		}
		value := root
		for _, part := range path {
			switch part := part.(type) {
			case string:
				object, _ := value.(map[string]any)
				value = object[part]
			case int:
				list, _ := value.([]any)
				value = nil
				if part < len(list) {
					value = list[part]
				}
			}
		}
		count(value, -1, counts)
	}
	return counts, nil
}

// inside reports whether the path leads into what is at outer.
func inside(path, outer []any) bool {
	return len(path) > len(outer) && slices.Equal(path[:len(outer)], outer)
}

func count(value any, by int, counts map[string]int) {
	switch value := value.(type) {
	case map[string]any:
		for _, inner := range value {
			count(inner, by, counts)
		}
	case []any:
		for _, inner := range value {
			count(inner, by, counts)
		}
	case nil:
	default:
		counts[fmt.Sprint(value)] += by
	}
}

func difference(before, after map[string]int) (string, bool) {
	for value, n := range before {
		if after[value] != n {
			return fmt.Sprintf("%.40q", value), true
		}
	}
	for value, n := range after {
		if before[value] != n {
			return fmt.Sprintf("%.40q", value), true
		}
	}
	return "", false
}
