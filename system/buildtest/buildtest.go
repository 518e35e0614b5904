// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package buildtest builds the Go programs that tests start.
package buildtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Main is for TestMain. It builds the main package source (an import path, or a path relative to the package under
// test), sets program to the path of the result, runs the tests and exits. The program's directory belongs to the
// tests, which may put more programs into it; it is removed at the end.
func Main(m *testing.M, program *string, source string) { os.Exit(run(m, program, source)) }

func run(m *testing.M, program *string, source string) int {
	dir, err := os.MkdirTemp("", "buildtest-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	*program = filepath.Join(dir, filepath.Base(source))
	if err := Build(*program, source); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Program builds the main package source for one test and returns the path of the program, which is removed at the end
// of the test.
func Program(t testing.TB, source string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.Base(source))
	require.NoError(t, Build(path, source))
	return path
}

// Build builds the main package source as the program at path.
func Build(path, source string) error {
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, source)
	// As programs are built, so that what is compiled for them is used. The race detector of the tests needs C.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("build %s: %w\n%s", source, err, out)
	}
	return nil
}
