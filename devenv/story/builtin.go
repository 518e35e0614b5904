// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed stories/*.yaml
var files embed.FS

// builtin are the names of the stories that come with pipedeck, in the order in which they are offered.
var builtin = []string{"tour", "failure", "drift", "plugin", "dag", "analysis"}

// Names returns the names of the stories that come with pipedeck.
func Names() []string { return slices.Clone(builtin) }

// Source returns the file of a story that comes with pipedeck.
func Source(name string) ([]byte, error) {
	if !slices.Contains(builtin, name) {
		return nil, fmt.Errorf("unknown story %q; known are: %s", name, strings.Join(builtin, ", "))
	}
	return files.ReadFile("stories/" + name + ".yaml")
}

// Builtin returns a story that comes with pipedeck.
func Builtin(name string, samples Samples) (*Story, error) {
	content, err := Source(name)
	if err != nil {
		return nil, err
	}
	return Parse(content, name+".yaml", samples)
}
