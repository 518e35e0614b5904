// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command generate writes the JSON Schemas of the configuration files.
//
//	go run ./piped/config/schema/generate -source piped/config -out docs/schemas
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
	out := flag.String("out", "docs/schemas", "folder to write to")
	flag.Parse()
	if err := run(*source, *out); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(source, out string) error {
	files, err := schema.Generate(source)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(out, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
