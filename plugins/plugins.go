// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package plugins holds, as data, the JSON Schemas of the options of the plugins in this folder, and of those plugins
// of PipeCD that are not here. The schemas of the plugins here are generated from their types; each plugin serves its
// own. Those in the folder frozen are written down once and change only when PipeCD does.
package plugins

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

//go:embed */schema.json frozen/*.json
var files embed.FS

// Bundled returns the names of the plugins in this folder, sorted: an environment knows where their programs are.
func Bundled() []string {
	found, _ := fs.Glob(files, "*/schema.json") // the pattern is well formed
	for i, name := range found {
		found[i] = path.Dir(name)
	}
	return found
}

// Schemas returns the schemas by the names of the plugins.
func Schemas() (map[string][]byte, error) {
	schemas := map[string][]byte{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		plugin := path.Base(path.Dir(name))
		if plugin == "frozen" {
			plugin = strings.TrimSuffix(path.Base(name), ".json")
		}
		schemas[plugin], err = files.ReadFile(name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the schemas of plugins: %w", err)
	}
	return schemas, nil
}
