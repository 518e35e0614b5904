// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command generate writes the JSON Schemas of the configuration files, and the tables of keys in their
// documentation.
//
//	go run ./piped/config/schema/generate
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pipedeck/pipedeck/piped/config/schema"
)

func main() {
	source := flag.String("source", "piped/config", "folder of package config")
	docs := flag.String("docs", "docs", "folder of the documentation")
	flag.Parse()
	if err := run(*source, *docs); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(source, docs string) error {
	files, err := schema.Generate(source)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(docs, "schemas"), 0o755); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(docs, "schemas", name), content, 0o644); err != nil {
			return err
		}
	}
	page := filepath.Join(docs, "configuration.md")
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	written, err := schema.Reference(string(text), source)
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(page, []byte(written), 0o644)
}
