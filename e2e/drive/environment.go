// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package drive uses an environment with the built programs, as a user does: it runs commands on it, reads the
// events of `pipedeck up` and `pipedeck ci`, and commits. The stories, the chaos harness and the benchmarks share it.
package drive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Environment names one environment and the programs that run it.
type Environment struct {
	// Bin is the directory with the built programs, StateDir the one of all environments of this user.
	Bin, StateDir, Name string
	// Variables are added to the environment variables of the commands.
	Variables []string
}

// Dir returns a path in the directory of the environment.
func (e Environment) Dir(elements ...string) string {
	return filepath.Join(append([]string{e.StateDir, e.Name}, elements...)...)
}

// Command prepares a pipedeck command on the environment; the end of ctx kills it.
func (e Environment) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(e.Bin, "pipedeck"),
		append(args[:len(args):len(args)], "--name", e.Name, "--state-dir", e.StateDir)...)
	// The working directory must not be a repository with applications: up would watch it.
	cmd.Dir = filepath.Dir(e.StateDir)
	if len(e.Variables) > 0 {
		cmd.Env = append(os.Environ(), e.Variables...)
	}
	return cmd
}

// Result is the output and the exit code of a command that has ended.
type Result struct {
	Stdout, Stderr string
	Code           int
}

// Run runs a prepared command to its end. Its error says that the command did not run or that a signal ended it.
func Run(cmd *exec.Cmd) (Result, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) && ended.Exited() {
		err = nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return Result{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}, nil
}

// Git runs git in a directory as the user Ada, without the configuration of this machine. It returns the output without
// the blanks around it.
func Git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
