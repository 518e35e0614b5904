// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

const (
	// maxCommandOutput bounds what the UI reads of a command, in bytes.
	maxCommandOutput = 16 << 20
	// commandPatience is how long a command may take to end after it was stopped.
	commandPatience = time.Second
)

// commandRunner runs commands of pipedeck about an environment, for the UI.
func commandRunner(w *workspace.Workspace) func(ctx context.Context, args []string) (out, said string, err error) {
	return func(ctx context.Context, args []string) (string, string, error) {
		program, err := os.Executable()
		if err != nil {
			return "", "", fmt.Errorf("find the program of pipedeck: %w", err)
		}
		args = append(args, "--name", w.Name, "--state-dir", filepath.Dir(w.Dir))
		cmd := exec.CommandContext(ctx, program, args...)
		out, said := pluginflag.NewBoundedBuffer(maxCommandOutput), pluginflag.NewBoundedBuffer(maxCommandOutput)
		cmd.Stdout, cmd.Stderr = out, said
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.WaitDelay = commandPatience
		if err := cmd.Run(); err != nil {
			return "", "", failedCommand(ctx, said.String(), err)
		}
		return out.String(), spoken(said.String()), nil
	}
}

// failedCommand is what a command says of its failure.
func failedCommand(ctx context.Context, said string, err error) error {
	switch words := spoken(said); {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case words != "":
		return errors.New(words)
	}
	return err
}

// spoken is what a command has written to standard error, without the name of the program.
func spoken(said string) string {
	var lines []string
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(strings.TrimPrefix(line, "pipedeck: ")); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}
