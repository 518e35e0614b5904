// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginflag

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/pluginsource"
)

// ProgramDir returns where this program and its companions are installed.
func ProgramDir() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find my own program: %w", err)
	}
	if exe, err = filepath.EvalSymlinks(exe); err != nil {
		return "", fmt.Errorf("find my own program: %w", err)
	}
	return filepath.Dir(exe), nil
}

// CheckProgram returns an error of usage unless path is a program that can be run. what names it in the error, hint is
// the next step.
func CheckProgram(what, path, hint string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return exit.Usage(fmt.Errorf("%s: %s does not exist", what, path), hint)
	case info.IsDir():
		return exit.Usage(fmt.Errorf("%s: %s is a directory, not a program", what, path),
			"build it and give the program: go build -o FILE "+path)
	case info.Mode()&0o111 == 0:
		return exit.Usage(fmt.Errorf("%s: %s is not executable", what, path), "chmod +x "+path)
	}
	return nil
}

// Build compiles the package in a directory.
func Build(ctx context.Context, dir, program string) error {
	if err := (&pluginsource.Source{Dir: dir, Program: program,
		Logger: slog.New(slog.DiscardHandler)}).Build(ctx); err != nil {
		return exit.Usage(err, "correct the sources and run again")
	}
	return nil
}
