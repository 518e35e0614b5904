// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
)

// Backend is where a configuration keeps its state.
type Backend struct {
	// Kind is "local", "s3" and the like, "cloud" for a block cloud, and empty when the configuration names none.
	Kind string
	// Path is that of a local backend, empty when it is not a plain text.
	Path string
}

// Local is whether the state is a file in the directory of the application, which does not outlast a stage.
func (b Backend) Local() bool {
	return b.Kind == "" || b.Kind == "local" && !filepath.IsAbs(b.Path)
}

var (
	rootSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "terraform"}}}
	termSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "backend", LabelNames: []string{"type"}}, {Type: "cloud"},
	}}
	pathSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "path"}}}
)

// Files returns the files of the configuration in a directory, by their names.
func Files(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	var names []string
	for _, entry := range entries {
		name := entry.Name()
		hidden := strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~")
		if entry.IsDir() || hidden || !isConfiguration(name) {
			continue
		}
		names = append(names, name)
	}
	return names, nil
}

func isConfiguration(name string) bool {
	for _, suffix := range []string{".tf", ".tf.json", ".tofu", ".tofu.json"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// BackendOf returns where the configuration in a directory keeps its state.
func BackendOf(dir string) (Backend, error) {
	names, err := Files(dir)
	if err != nil {
		return Backend{}, err
	}
	if len(names) == 0 {
		return Backend{}, fmt.Errorf("%s has no file of a configuration, such as main.tf", filepath.Base(dir))
	}
	var backend Backend
	for _, name := range names {
		found, err := backendIn(filepath.Join(dir, name))
		if err != nil {
			return Backend{}, err
		}
		if found.Kind != "" {
			backend = found
		}
	}
	return backend, nil
}

func backendIn(path string) (Backend, error) {
	parser := hclparse.NewParser()
	parse := parser.ParseHCLFile
	if strings.HasSuffix(path, ".json") {
		parse = parser.ParseJSONFile
	}
	file, found := parse(path)
	if found.HasErrors() {
		return Backend{}, fmt.Errorf("read %s: %w", filepath.Base(path), found)
	}
	root, _, _ := file.Body.PartialContent(rootSchema)
	var backend Backend
	for _, block := range root.Blocks {
		inner, _, _ := block.Body.PartialContent(termSchema)
		for _, one := range inner.Blocks {
			if one.Type == "cloud" {
				backend = Backend{Kind: "cloud"}
				continue
			}
			backend = Backend{Kind: one.Labels[0], Path: pathOf(one)}
		}
	}
	return backend, nil
}

func pathOf(block *hcl.Block) string {
	content, _, _ := block.Body.PartialContent(pathSchema)
	attribute, is := content.Attributes["path"]
	if !is {
		return ""
	}
	value, found := attribute.Expr.Value(nil)
	if found.HasErrors() || value.IsNull() || value.Type().FriendlyName() != "string" {
		return ""
	}
	return value.AsString()
}
