// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command wordlint holds the texts of the repository to plain words: it refuses the words of words.yaml in
// documentation and in the comments, names and string literals of Go code, and wrong spelling. exceptions.yaml lists
// what may stay. Folders that are not yet clean are not in words.yaml.
//
//	wordlint -root .
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	root := flag.String("root", ".", "the repository")
	flag.Parse()
	rules, err := load(wordsFile, exceptionsFile)
	if err != nil {
		fmt.Fprintln(os.Stderr, "wordlint:", err)
		os.Exit(2)
	}
	findings, err := check(os.DirFS(*root), rules)
	if err != nil {
		fmt.Fprintln(os.Stderr, "wordlint:", err)
		os.Exit(2)
	}
	for _, f := range findings {
		fmt.Println(f)
	}
	if len(findings) > 0 {
		os.Exit(1)
	}
}
