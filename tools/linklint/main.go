// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command linklint checks the Markdown pages of the repository: each link to a file or heading leads somewhere,
// and every page can be reached from docs/README.md. It asks no other server.
//
//	linklint -root .
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	root := flag.String("root", ".", "the repository")
	flag.Parse()
	findings, err := check(os.DirFS(*root))
	if err != nil {
		fmt.Fprintln(os.Stderr, "linklint:", err)
		os.Exit(2)
	}
	for _, f := range findings {
		fmt.Println(f)
	}
	if len(findings) > 0 {
		os.Exit(1)
	}
}
