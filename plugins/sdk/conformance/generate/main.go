// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command generate writes the page of the cases that plugins are tested with: generate PAGE [DIR]. With the directory
// of their package, it writes the words of their texts there.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/sdk/conformance"
)

func main() {
	if len(os.Args) != 2 && len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: generate PAGE [DIR]")
		os.Exit(2)
	}
	err := os.WriteFile(os.Args[1], []byte(conformance.Page()), 0o644)
	if len(os.Args) == 3 {
		err = errors.Join(err, writeWords(os.Args[2]))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func writeWords(dir string) error {
	all, err := words(dir)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "words.txt"), []byte(strings.Join(all, "\n")+"\n"), 0o644)
}
