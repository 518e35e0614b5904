// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	// outputLimit bounds what a program may print; the answers that are read here are a few KiB.
	outputLimit = 1 << 20
	// pipeGrace is how long a program that left its group may hold the output of an ended command open, and how long
	// a busy machine may need to read the end of that output.
	pipeGrace = time.Second
)

// Run is Command on this machine.
func Run(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = pipeGrace
	// What the command started ends with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var stdout, stderr limited
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case err == nil:
		return stdout.kept.Bytes(), nil
	case errors.Is(err, exec.ErrNotFound):
		return nil, err
	case errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil:
		// The command itself succeeded; something that it started holds its output open.
		return stdout.kept.Bytes(), nil
	}
	if said := strings.TrimSpace(stderr.kept.String()); said != "" {
		err = errors.New(said)
	}
	return stdout.kept.Bytes(), fmt.Errorf("%s: %w", shown(cmd.Args), err)
}

// shown returns a command for messages, without the template of its output, which is for programs.
func shown(args []string) string {
	if i := slices.Index(args, "--format"); i >= 0 {
		args = slices.Concat(args[:i], args[min(i+2, len(args)):])
	}
	return strings.Join(args, " ")
}

// limited keeps the beginning of what is written to it.
type limited struct{ kept bytes.Buffer }

func (l *limited) Write(b []byte) (int, error) {
	if room := outputLimit - l.kept.Len(); room > 0 {
		l.kept.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}
