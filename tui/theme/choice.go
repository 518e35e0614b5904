// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package theme

import (
	"fmt"
	"os"
	"strings"
)

// Choice is a theme by name or file. The zero value is dark or light, as the terminal is.
type Choice struct {
	dark, light *palette
}

// Names are what Choose knows, except files. A terminal's background decides where a name does not.
func Names() []string {
	return []string{"auto", darkName, lightName, highContrastName, "colour-blind", colorBlindDarkName,
		colorBlindLightName}
}

// Choose returns the theme of that name or in that file; "" is "auto". A name with a "/" or a "." is a file: see the
// page docs/themes.md for its form. Errors name the file and the line, or list the names.
func Choose(name string) (Choice, error) {
	one := func(name string) Choice {
		p := builtIn()[name]
		return Choice{dark: &p, light: &p}
	}
	switch name {
	case "", "auto":
		return Choice{}, nil
	case "colour-blind", "color-blind":
		return Choice{dark: one(colorBlindDarkName).dark, light: one(colorBlindLightName).light}, nil
	case darkName, lightName, highContrastName, colorBlindDarkName, colorBlindLightName:
		return one(name), nil
	}
	if !strings.ContainsAny(name, "/.") {
		return Choice{}, fmt.Errorf("unknown theme %q; themes are %s, or a file such as ./my-theme.yaml", name,
			strings.Join(Names(), ", "))
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return Choice{}, fmt.Errorf("read the theme: %w", err)
	}
	p, err := parseFile(name, content)
	if err != nil {
		return Choice{}, err
	}
	return Choice{dark: &p, light: &p}, nil
}

// DependsOnBackground reports whether the theme is another one on a light terminal.
func (c Choice) DependsOnBackground() bool { return c.dark == nil || c.dark != c.light }

func (c Choice) palette(light bool) palette {
	switch {
	case light && c.light != nil:
		return *c.light
	case !light && c.dark != nil:
		return *c.dark
	case light:
		return builtIn()[lightName]
	}
	return builtIn()[darkName]
}
