// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command sizelint reports what is too large to be read at once: types with many methods or fields, long functions,
// long parameter lists and wide lines. Generated code and testdata are skipped. What may stay
// large is listed in the exceptions file, one a line with its reason.
//
//	sizelint [-root DIR] [-exceptions FILE] [-all] [FOLDER...]
//
// It reads the files below the folders (default: all of the repository), prints each finding as "place: what, over the
// bound", and exits with 1 when there is one. An exception that is not needed any more is a finding, too.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "the repository")
	list := flag.String("exceptions", "tools/sizelint/exceptions.txt", "the exceptions, relative to the repository")
	all := flag.Bool("all", false, "report what the exceptions allow, too")
	flag.Parse()
	count, err := run(os.Stdout, *root, *list, *all, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "sizelint:", err)
		os.Exit(2)
	}
	if count > 0 {
		os.Exit(1)
	}
}

// run prints the findings and returns their number.
func run(out io.Writer, root, list string, all bool, folders []string) (int, error) {
	found, err := measure(root, folders)
	if err != nil {
		return 0, err
	}
	allowed := exceptions{}
	if !all {
		if allowed, err = readExceptions(filepath.Join(root, list)); err != nil {
			return 0, err
		}
	}
	count := 0
	for _, f := range found {
		if !allowed.allow(f) {
			count++
			fmt.Fprintln(out, f)
		}
	}
	if len(folders) > 0 {
		return count, nil // the exceptions of other folders are not used
	}
	for _, unused := range allowed.unused() {
		count++
		fmt.Fprintf(out, "%s: the exception for %q is not needed any more: remove it\n", list, unused)
	}
	return count, nil
}
