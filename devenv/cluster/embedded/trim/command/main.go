// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command command prints flags of the go command for the sources of the embedded Kubernetes, one on each line. The
// Makefile tests and checks the sources with them, so that these share their compiled packages with the program.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/pipedeck/pipedeck/devenv/cluster/embedded/trim"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: command SOURCES DIRECTORY")
		os.Exit(2)
	}
	path, err := trim.Cached(context.Background(), os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "trim modules of the embedded Kubernetes:", err)
		os.Exit(1)
	}
	fmt.Println("-modfile=" + path)
	for _, flag := range trim.Flags() {
		fmt.Println(flag)
	}
}
