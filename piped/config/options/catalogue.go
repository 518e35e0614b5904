// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"maps"
	"slices"
)

// Catalogue returns plugins with these schemas, by their names, in alphabetical order.
func Catalogue(schemas map[string][]byte) ([]Plugin, error) {
	var plugins []Plugin
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		schema, err := Parse(schemas[name])
		if err != nil {
			return nil, fmt.Errorf("plugin %s: %w", name, err)
		}
		plugins = append(plugins, Plugin{Name: name, Schema: schema})
	}
	return plugins, nil
}
