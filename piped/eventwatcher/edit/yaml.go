// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/pipedeck/pipedeck/piped/config/fieldpath"
	"github.com/pipedeck/pipedeck/system/yamlplace"
)

func replaceYAML(content []byte, path, value string) ([]byte, error) {
	steps, err := fieldpath.Parse(path, false)
	if err != nil {
		return nil, err
	}
	roots, err := parseYAML(content)
	if err != nil {
		return nil, err
	}
	found, err := find(roots, steps)
	if err != nil {
		return nil, err
	}
	var spans []span
	for _, n := range found {
		if n.text != value {
			spans = append(spans, span{n.start, n.end, n.yaml(content, value)})
		}
	}
	if len(spans) == 0 {
		return content, nil
	}
	changed := apply(content, spans)
	again, err := parseYAML(changed)
	if err != nil {
		return nil, err
	}
	return changed, verify(roots, again, found, value)
}

// yaml is the value as it stands in the file, in the style of what was there.
func (n *node) yaml(content []byte, value string) string {
	before := ""
	if n.start == n.end && n.start > 0 && content[n.start-1] == ':' {
		before = " " // "key:" has no value yet
	}
	switch {
	case n.style.quote == '\'' && printable(value):
		return "'" + strings.ReplaceAll(value, "'", "''") + "'"
	case n.style.quote == 0 && plainScalar(value, n.style.isText):
		return before + value
	}
	return before + quoteJSON(value)
}

func printable(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) })
}

// notText are the plain words that readers of YAML 1.1 take for booleans.
var notText = []string{"y", "n", "yes", "no", "on", "off"}

// plainScalar reports whether the value can be written without quotes, wherever it stands. Text has to stay
// text for every reader.
func plainScalar(value string, isText bool) bool {
	if isText && slices.Contains(notText, strings.ToLower(value)) {
		return false
	}
	if strings.ContainsAny(value, "\n\r") {
		return false
	}
	for context, path := range map[string][]fieldpath.Step{
		"k: " + value + "\n":      {{Name: "k"}},
		"k: {a: " + value + "}\n": {{Name: "k"}, {Name: "a"}},
		"k: [" + value + ", b]\n": {{Name: "k"}, {Index: 0}},
	} {
		roots, err := parseYAML([]byte(context))
		if err != nil {
			return false
		}
		found, err := find(roots, path)
		if err != nil || found[0].text != value || found[0].style.quote != 0 || isText && !found[0].style.isText {
			return false
		}
	}
	return true
}

// parseYAML reads all documents of a file.
func parseYAML(content []byte) (roots []*node, err error) {
	r := &yamlReader{content: content, lines: lineStarts(content)}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return roots, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the file is not valid YAML: %w", yamlplace.Error(content, err))
		}
		for _, body := range document.Content {
			root, err := r.node(body, 0)
			if err != nil {
				return nil, fmt.Errorf("the file cannot be read: %w", err)
			}
			roots = append(roots, root)
		}
	}
}

// lineStarts are the offsets of lines, with the line ends that YAML knows. A byte order mark is in no line.
func lineStarts(content []byte) []int {
	at := 0
	if bytes.HasPrefix(content, []byte("\ufeff")) {
		at = len("\ufeff")
	}
	starts := []int{at}
	for at < len(content) {
		r, size := utf8.DecodeRune(content[at:])
		at += size
		switch r {
		case '\r':
			if at < len(content) && content[at] == '\n' {
				continue
			}
			starts = append(starts, at)
		case '\n', '\u0085', '\u2028', '\u2029':
			starts = append(starts, at)
		}
	}
	return starts
}

type yamlReader struct {
	content []byte
	lines   []int
}

func (r *yamlReader) node(from *yaml.Node, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested more than %d deep", maxDepth)
	}
	n := &node{}
	switch from.Kind {
	case yaml.MappingNode:
		n.kind = mapping
		for i := 0; i+1 < len(from.Content); i += 2 {
			n.keys = append(n.keys, from.Content[i].Value)
			item, err := r.node(from.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
	case yaml.SequenceNode:
		n.kind = sequence
		for _, content := range from.Content {
			item, err := r.node(content, depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
	case yaml.AliasNode:
		n.kind, n.text = alias, from.Value
	default:
		n.text = from.Value
		r.place(n, from)
	}
	return n, nil
}

// place finds the bytes of a scalar from its line and column, which count from 1 and in characters.
func (r *yamlReader) place(n *node, from *yaml.Node) {
	n.style.isText = from.ShortTag() == "!!str"
	start, ok := r.offset(from.Line, from.Column)
	if !ok {
		n.style.problem = "is at a place that cannot be found"
		return
	}
	start = r.skipProperties(start)
	n.start, n.end = start, start
	rest := r.content[start:]
	switch {
	case from.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		n.style.problem = "is a block of lines (| or >); write it in quotes to have it replaced"
	case from.Style&yaml.DoubleQuotedStyle != 0:
		n.style.quote = '"'
		n.end = start + quotedLength(rest, '"', '\\')
	case from.Style&yaml.SingleQuotedStyle != 0:
		n.style.quote = '\''
		n.end = start + quotedLength(rest, '\'', '\'')
	case bytes.HasPrefix(rest, []byte(from.Value)):
		n.end = start + len(from.Value)
	default:
		n.style.problem = "goes on over several lines; write it in quotes to have it replaced"
	}
}

func (r *yamlReader) offset(line, column int) (int, bool) {
	if line < 1 || line > len(r.lines) {
		return 0, false
	}
	at := r.lines[line-1]
	for range column - 1 {
		if at >= len(r.content) {
			return 0, false
		}
		_, size := utf8.DecodeRune(r.content[at:])
		at += size
	}
	return at, true
}

// skipProperties goes on to the value behind a tag and an anchor.
func (r *yamlReader) skipProperties(at int) int {
	for at < len(r.content) && (r.content[at] == '!' || r.content[at] == '&') {
		for at < len(r.content) && bytes.IndexByte([]byte(" \t\r\n"), r.content[at]) < 0 {
			at++
		}
		for at < len(r.content) && (r.content[at] == ' ' || r.content[at] == '\t') {
			at++
		}
	}
	return at
}

// quotedLength is the number of bytes from the opening to the closing quote. The escape makes the byte
// after it an ordinary one; in single quotes, that is a quote before a quote.
func quotedLength(text []byte, quote, escape byte) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == escape && i+1 < len(text) && (escape != quote || text[i+1] == quote):
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return len(text)
}
