// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/pipedeck/pipedeck/system/yamlplace"
)

// maxNodes bounds a document after its aliases are expanded, so that a few lines cannot fill the memory. A manifest
// stored by Kubernetes is at most 1.5 MB.
const maxNodes = 1 << 20

// maxDepth bounds nesting, which an alias that contains itself would make endless.
const maxDepth = 200

// document is one decoded YAML document.
type document struct {
	value any
	line  int
	lines map[string]int
}

// decodeYAML reads every document of a file. Values are what unstructured objects hold: string, bool, int64, float64,
// nil, []any, map[string]any.
func decodeYAML(data []byte, file string) ([]document, error) { return decode(data, file, false) }

// decodeLenientYAML takes the last value of a key that is given twice.
func decodeLenientYAML(data []byte, file string) ([]document, error) { return decode(data, file, true) }

func decode(data []byte, file string, lenient bool) ([]document, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var documents []document
	for {
		var root yaml.Node
		err := decoder.Decode(&root)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, yamlError(file, data, err)
		}
		if len(root.Content) == 0 || isNull(root.Content[0]) {
			continue
		}
		c := converter{file: file, lines: map[string]int{}, lenient: lenient}
		value, err := c.convert(root.Content[0], "")
		if err != nil {
			return nil, err
		}
		documents = append(documents, document{value: value, line: root.Content[0].Line, lines: c.lines})
	}
}

const notValidYAML = "not valid YAML"

func yamlError(file string, data []byte, err error) error {
	line, problem := yamlplace.Of(data, err)
	if line == 0 {
		return fmt.Errorf("%s: "+notValidYAML+": %s", file, problem)
	}
	return fmt.Errorf("%s:%d: "+notValidYAML+": %s", file, line, problem)
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

type converter struct {
	file  string
	lines map[string]int
	nodes int
	depth int
	// aliases is how many aliases lead to what is converted.
	aliases int
	// lenient lets a key be given twice.
	lenient bool
}

func (c *converter) fail(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", c.file, n.Line, fmt.Sprintf(format, args...))
}

func (c *converter) convert(n *yaml.Node, path string) (any, error) {
	if c.nodes++; c.nodes > maxNodes {
		return nil, c.fail(n, "the document is too large once its aliases are expanded")
	}
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > maxDepth {
		return nil, c.fail(n, "the document is nested too deeply; does an alias contain itself?")
	}
	switch n.Kind {
	case yaml.AliasNode:
		c.aliases++
		defer func() { c.aliases-- }()
		return c.convert(n.Alias, path)
	case yaml.MappingNode:
		return c.convertMap(n, path)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for i, item := range n.Content {
			at := c.at(item, path, func() string { return "[" + strconv.Itoa(i) + "]" })
			v, err := c.convert(item, at)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.ScalarNode:
		return c.convertScalar(n)
	default:
		return nil, c.fail(n, "unexpected YAML node")
	}
}

// at notes the line of a field and gives its path. What an alias stands for has the line of the alias.
func (c *converter) at(n *yaml.Node, path string, last func() string) string {
	if c.aliases > 0 {
		return ""
	}
	path += last()
	c.lines[path] = n.Line
	return path
}

func (c *converter) convertMap(n *yaml.Node, path string) (any, error) {
	m := make(map[string]any, len(n.Content)/2)
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode {
			return nil, c.fail(key, "a map's key must be text")
		}
		if key.Tag == "!!merge" {
			merged = append(merged, value)
			continue
		}
		if _, twice := m[key.Value]; twice && !c.lenient {
			return nil, c.fail(key, "the key %q is given twice", key.Value)
		}
		at := c.at(key, path, func() string {
			if path == "" {
				return key.Value
			}
			return "." + key.Value
		})
		v, err := c.convert(value, at)
		if err != nil {
			return nil, err
		}
		m[key.Value] = v
	}
	for _, source := range merged {
		if err := c.merge(m, source, path); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// merge fills in what "<<" refers to; keys that are there already win.
func (c *converter) merge(into map[string]any, source *yaml.Node, path string) error {
	if source.Kind == yaml.AliasNode {
		source = source.Alias
	}
	if source.Kind == yaml.SequenceNode {
		for _, item := range source.Content {
			if err := c.merge(into, item, path); err != nil {
				return err
			}
		}
		return nil
	}
	v, err := c.convert(source, path)
	if err != nil {
		return err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return c.fail(source, "<< must refer to a map")
	}
	for key, value := range m {
		if _, set := into[key]; !set {
			into[key] = value
		}
	}
	return nil
}

func (c *converter) convertScalar(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true"), nil
	case "!!int":
		return c.convertInt(n)
	case "!!float":
		var f float64
		if err := n.Decode(&f); err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return nil, c.fail(n, "%q is not a number that JSON can hold", n.Value)
		}
		return f, nil
	}
	if n.Style == 0 && n.Tag == "!!str" {
		if b, ok := oldBool(n.Value); ok {
			return b, nil
		}
	}
	return n.Value, nil
}

func (c *converter) convertInt(n *yaml.Node) (any, error) {
	var i int64
	if err := n.Decode(&i); err == nil {
		return i, nil
	}
	var f float64
	if err := n.Decode(&f); err != nil {
		return nil, c.fail(n, "%q is not a number", n.Value)
	}
	return f, nil
}

// oldBool reads the words that YAML 1.1 took for booleans: kubectl still does, so `hostNetwork: yes` has to work. The
// single letters are left as text, since they are mostly meant as such.
func oldBool(s string) (value, ok bool) {
	switch s {
	case "yes", "Yes", "YES", "on", "On", "ON":
		return true, true
	case "no", "No", "NO", "off", "Off", "OFF":
		return false, true
	}
	return false, false
}
