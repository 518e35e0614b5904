// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command bench measures what a user waits for, with the built programs and the embedded cluster,
// and prints one figure a line. It fails when something does not happen, never because it is slow.
//
//	PIPEDECK_BIN=bin go run ./e2e/bench
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

func main() {
	commits := flag.Int("commits", 20, "commits to measure")
	starts := flag.Int("starts", 5, "starts to measure")
	clusters := flag.Int("clusters", 3, "kind clusters to measure; 0 leaves kind out")
	nodeImage := flag.String("node-image", "", "node image for kind (default: kind's own)")
	flag.Parse()
	if err := run(*commits, *starts, *clusters, *nodeImage); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(commits, starts, clusters int, nodeImage string) error {
	bin, err := filepath.Abs(os.Getenv("PIPEDECK_BIN"))
	if err != nil || os.Getenv("PIPEDECK_BIN") == "" {
		return fmt.Errorf("PIPEDECK_BIN must name the directory with the built programs; use make bench")
	}
	dir, err := os.MkdirTemp("", "pipedeck-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("%d cores, %s/%s, %s\n", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())

	if err := benchStart(bin, dir, starts); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	if err := benchScreen(bin, dir, starts); err != nil {
		return fmt.Errorf("screen: %w", err)
	}
	if err := benchCommits(bin, dir, commits); err != nil {
		return fmt.Errorf("commits: %w", err)
	}
	if clusters > 0 {
		if err := benchKind(bin, dir, nodeImage, clusters); err != nil {
			return fmt.Errorf("kind: %w", err)
		}
	}
	return nil
}

// figures prints the median and the extremes of what was measured.
func figures(name string, measured []time.Duration) {
	slices.Sort(measured)
	fmt.Printf("%-46s median %7.1f ms   min %7.1f   max %7.1f   n=%d\n", name,
		ms(measured[len(measured)/2]), ms(measured[0]), ms(measured[len(measured)-1]), len(measured))
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
