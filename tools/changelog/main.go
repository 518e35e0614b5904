// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command changelog writes CHANGELOG.md from the entries in changelog: a folder for each release and one for
// unreleased changes, with one file for each change that users notice.
//
//	changelog -root . [-check]
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "the repository")
	check := flag.Bool("check", false, "only check that the file is current")
	flag.Parse()
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "changelog:", err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	want, err := write(os.DirFS(filepath.Join(root, "changelog")))
	if err != nil {
		return err
	}
	name := filepath.Join(root, "CHANGELOG.md")
	if !check {
		return os.WriteFile(name, []byte(want), 0o644)
	}
	is, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if string(is) != want {
		return fmt.Errorf("%s is stale: run make generate", name)
	}
	return nil
}
