// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// given is what the values of a chart are merged of.
type given struct {
	values map[string]any
	// remote is set when any came from another machine.
	remote bool
	// files are those with values, in their order.
	files []valuesFile
	// options are the single values and the values from files of the request.
	options Options
}

// valuesFile is a file with values; name is how messages call it.
type valuesFile struct {
	name string
	data []byte
}

// place is where a value was given that came to count, as messages write it: a file with a line, or an option. It is
// empty for a value that is given nowhere. below are the values.yaml files of the chart and of those it belongs to.
func (g *given) place(path []string, below []defaults) string {
	name := strings.Join(path, ".")
	for _, option := range []struct {
		name string
		keys map[string]string
	}{{"setFiles", g.options.SetFiles}, {"setValues", g.options.SetValues}} {
		for _, key := range slices.Sorted(maps.Keys(option.keys)) {
			if dotted := dots.Replace(key); name == dotted || strings.HasPrefix(name, dotted+".") {
				return "input.helmOptions." + option.name
			}
		}
	}
	for _, file := range slices.Backward(g.files) {
		if line, found := lineOf(file.data, path); found {
			return fmt.Sprintf("%s:%d", file.name, line)
		}
	}
	for _, d := range below {
		if len(path) < d.depth {
			continue
		}
		if line, found := lineOf(d.data, path[d.depth:]); found {
			return fmt.Sprintf("%s:%d", d.name, line)
		}
	}
	return ""
}

// dots writes the path of a single value as the path of a value.
var dots = strings.NewReplacer("[", ".", "]", "")

// defaults are the values that a chart brings. depth is the number of charts that it is below.
type defaults struct {
	valuesFile
	depth int
}

// defaultsOf are the values of a chart itself; nil without a file.
func (l *loaded) defaultsOf(c *chart.Chart, depth int) []defaults {
	for _, file := range c.Raw {
		if file.Name == "values.yaml" {
			name := l.source(c.ChartFullPath() + "/values.yaml")
			return []defaults{{valuesFile: valuesFile{name: name, data: file.Data}, depth: depth}}
		}
	}
	return nil
}

// lineOf is the line of a value in a YAML file, counted from 1.
func lineOf(data []byte, path []string) (line int, found bool) {
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil || len(root.Content) == 0 || len(path) == 0 {
		return 0, false
	}
	node := root.Content[0]
	for _, step := range path {
		if node.Kind == yaml.AliasNode {
			node = node.Alias
		}
		if line, node = stepInto(node, step); node == nil {
			return 0, false
		}
	}
	return line, true
}

// stepInto gives a part of a map or a list, and the line where it begins; nil when there is none.
func stepInto(node *yaml.Node, step string) (line int, part *yaml.Node) {
	switch node.Kind {
	case yaml.MappingNode:
		for i := len(node.Content) - 2; i >= 0; i -= 2 { // the last one counts
			if node.Content[i].Value == step {
				return node.Content[i].Line, node.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i].Line, node.Content[i]
		}
	}
	return 0, nil
}
