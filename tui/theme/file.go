// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package theme

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/pipedeck/pipedeck/system/yamlplace"
)

// parseFile reads a theme file. Colours that it leaves out are those of its base. Every error names the line.
func parseFile(name string, content []byte) (palette, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		return palette{}, fmt.Errorf("read theme %s: %w", name, yamlplace.Error(content, err))
	}
	f := themeFile{name: name, palette: builtIn()[darkName]}
	if len(document.Content) == 0 {
		return palette{}, f.error(1, "is empty; write a line such as: base: dark")
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		return palette{}, f.error(root.Line, `has no lines such as: text: "#e8eaed"`)
	}
	if err := f.base(root.Content); err != nil {
		return palette{}, err
	}
	for i := 0; i < len(root.Content); i += 2 {
		f.set(root.Content[i], root.Content[i+1])
	}
	if f.errs == nil {
		f.readable()
	}
	return f.palette, errors.Join(f.errs...)
}

// themeFile is a theme file that is being read.
type themeFile struct {
	name    string
	palette palette
	// lines are where the file says the colours, 0 where it does not; background is that of its background.
	lines      [tokens]int
	background int
	errs       []error
}

func (f *themeFile) error(line int, format string, values ...any) error {
	return fmt.Errorf("theme %s:%d: %s", f.name, line, fmt.Sprintf(format, values...))
}

// base starts from the theme that the file names.
func (f *themeFile) base(content []*yaml.Node) error {
	for i := 0; i < len(content); i += 2 {
		if content[i].Value != "base" {
			continue
		}
		p, known := builtIn()[content[i+1].Value]
		if !known {
			return f.error(content[i+1].Line, "unknown base %q; bases are %s, %s, %s, %s, %s", content[i+1].Value,
				darkName, lightName, highContrastName, colorBlindDarkName, colorBlindLightName)
		}
		f.palette = p
	}
	return nil
}

// set takes one line.
func (f *themeFile) set(key, value *yaml.Node) {
	at := slices.Index(tokenNames[:], key.Value)
	switch {
	case key.Value == "base":
		return
	case at < 0 && key.Value != "background":
		f.errs = append(f.errs, f.error(key.Line, "unknown name %q; names are base, background, %s", key.Value,
			strings.Join(tokenNames[:], ", ")))
		return
	}
	c, err := ParseColor(value.Value)
	switch {
	case err != nil && value.Value == "": // YAML takes what follows # for a comment
		f.errs = append(f.errs, f.error(value.Line, `%s has no colour; write it in quotes: "#7ee2a0"`, key.Value))
	case err != nil:
		f.errs = append(f.errs, f.error(value.Line, "%s: %v", key.Value, err))
	case at < 0:
		f.palette.backgrounds, f.palette.painted, f.background = []Color{c}, true, key.Line
	default:
		f.palette.colors[at], f.lines[at] = c, key.Line
	}
}

// readable checks the contrast of each colour.
func (f *themeFile) readable() {
	for t := range tokens {
		ratio, behind := f.palette.worst(t, f.palette.colors[t])
		if ratio >= t.needs() || t == selection {
			continue
		}
		what := "words"
		if t == border {
			what = "frames"
		}
		line := max(f.lines[t], 1)
		if f.lines[t] == 0 { // it is the base's; what is behind it has changed
			line = max(f.background, f.lines[selection], 1)
		}
		f.errs = append(f.errs, f.error(line, "%s %s has a contrast of %.1f:1 on %s; %s need %.1f:1", tokenNames[t],
			f.palette.colors[t], ratio, behind, what, t.needs()))
	}
}
