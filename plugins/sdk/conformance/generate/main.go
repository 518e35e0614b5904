// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command generate writes the page of the cases that plugins are tested with: generate FILE.
package main

import (
	"fmt"
	"os"

	"github.com/pipedeck/pipedeck/plugins/sdk/conformance"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate FILE")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], []byte(conformance.Page()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
