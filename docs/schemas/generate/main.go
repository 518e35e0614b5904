// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command generate writes the JSON Schemas of the configuration files and of what commands print, and the tables of
// keys and fields in their documentation.
// The schemas of plugins are written before, by the tests of the plugins.
//
//	go run ./docs/schemas/generate
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// keysPage is the documentation with the tables of keys.
const keysPage = "docs/configuration.md"

func main() {
	root := flag.String("root", ".", "root of the repository")
	flag.Parse()
	if err := run(*root); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	for name, content := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			return err
		}
	}
	for name, write := range map[string]func(text, root string) (string, error){
		keysPage: reference, outputPage: outputReference,
	} {
		name = filepath.Join(root, name)
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		written, err := write(string(text), root)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(name, []byte(written), 0o644); err != nil {
			return err
		}
	}
	return nil
}
