// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command digest prints the digest of the embedded Kubernetes' sources in a directory, for tools/build.sh.
package main

import (
	"fmt"
	"os"

	"github.com/pipedeck/pipedeck/devenv/cluster/embedded/sources"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: digest DIRECTORY")
		os.Exit(2)
	}
	files, err := sources.Read(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "digest:", err)
		os.Exit(1)
	}
	fmt.Println(files.Digest())
}
