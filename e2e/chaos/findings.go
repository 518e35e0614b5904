// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"sync"
)

// findings are the broken promises of a run. Several goroutines may add to them.
type findings struct {
	mu   sync.Mutex
	text []string
	// quiet findings are expected, and not printed.
	quiet bool
}

func (f *findings) add(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.text = append(f.text, fmt.Sprintf(format, args...))
	if !f.quiet {
		fmt.Println("  broken:", f.text[len(f.text)-1])
	}
}

func (f *findings) list() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.text)
}
