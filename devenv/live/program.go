// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// maxOutput bounds what is read from git, in bytes. It is room for the names of maxFiles files.
const maxOutput = 16 << 20

// errTooMuch means that git wrote more than maxOutput.
var errTooMuch = errors.New("git says more than is read")

// program runs git in one directory.
type program struct {
	dir string
	env []string
}

// newProgram finds git. It removes the environment variables that name another repository, and keeps git from asking
// the user for anything.
func newProgram(dir string) (program, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return program{}, fmt.Errorf("find the git program: %w; install git", err)
	}
	env := slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "GIT_") })
	return program{dir: dir, env: append(env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0")}, nil
}

// with returns a program that has more variables.
func (p program) with(variables ...string) program {
	p.env = append(slices.Clone(p.env), variables...)
	return p
}

// settings keep git from writing into the user's repository and from refusing over line ends.
var settings = []string{
	"-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", "core.splitIndex=false",
	"-c", "core.safecrlf=false", "-c", "i18n.commitEncoding=utf-8", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
}

// run returns git's output. The error names the command and holds what git complained of.
func (p program) run(ctx context.Context, input string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append(slices.Clone(settings), args...)...)
	cmd.Dir, cmd.Env = p.dir, p.env
	cmd.Stdin = strings.NewReader(input)
	complaints := &limited{limit: 4 << 10}
	cmd.Stderr = complaints
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", fmt.Errorf("run git %s: %w", args[0], err)
	}
	said, err := io.ReadAll(io.LimitReader(out, maxOutput+1))
	if len(said) > maxOutput {
		err = errTooMuch
		_ = cmd.Process.Kill() // it may wait for a reader
	}
	if waitErr := cmd.Wait(); err == nil {
		err = waitErr
	}
	if err != nil {
		return "", fmt.Errorf("run git %s in %s: %w: %s", args[0], p.dir, err, strings.TrimSpace(complaints.String()))
	}
	return string(said), nil
}

// line is like run, and returns one line without its end.
func (p program) line(ctx context.Context, args ...string) (string, error) {
	out, err := p.run(ctx, "", args...)
	return strings.TrimSpace(out), err
}

// list is like run, and splits output whose entries end with NUL.
func (p program) list(ctx context.Context, args ...string) ([]string, error) {
	out, err := p.run(ctx, "", args...)
	if err != nil || out == "" {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"), nil
}

// limited keeps the beginning of what is written.
type limited struct {
	kept  bytes.Buffer // not embedded: io.Copy would find its ReadFrom, which knows no limit
	limit int
}

func (l *limited) Write(p []byte) (int, error) {
	l.kept.Write(p[:min(len(p), l.limit-l.kept.Len())])
	return len(p), nil
}

func (l *limited) String() string { return l.kept.String() }
