// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
)

const (
	// atOnce bounds the commands that run at the same time.
	atOnce = 4
	// callTimeout bounds one command, endTimeout how long it may take to end after that.
	callTimeout = 2 * time.Minute
	endTimeout  = 2 * time.Second
	// maxPrinted bounds what is read of a command, and maxResult what an assistant gets of it, in bytes.
	maxPrinted = 16 << 20
	maxResult  = 128 << 10
)

// runner runs commands of pipedeck.
type runner struct {
	program string
	// flags name the environment.
	flags []string
	slots chan struct{}
}

// run runs a command and returns what it prints. The error of a command without output is what it says on standard
// error; a command that prints and fails, such as the status of a degraded environment, has both.
func (r *runner) run(ctx context.Context, args ...string) (printed []byte, err error) {
	out := pluginflag.NewBoundedBuffer(maxPrinted)
	err = r.runInto(ctx, out, args...)
	return bytes.TrimSpace(out.Bytes()), err
}

// runInto runs a command that prints into out. The error is what it says on standard error.
func (r *runner) runInto(ctx context.Context, out io.Writer, args ...string) error {
	for _, arg := range args {
		if strings.ContainsRune(arg, 0) {
			return errors.New("an argument holds the NUL character, which no name has\nnext step: leave it out")
		}
	}
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.program, slices.Concat(args[:1], r.flags, args[1:])...)
	said := pluginflag.NewBoundedBuffer(maxResult)
	cmd.Stdout, cmd.Stderr = out, said
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = endTimeout
	err := cmd.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("pipedeck %s took longer than %s\nnext step: ask for less, such as one application",
			args[0], callTimeout)
	case err == nil:
		return nil
	}
	if words := strings.TrimSpace(said.String()); words != "" {
		err = errors.New(strings.TrimPrefix(words, "pipedeck: "))
	}
	return err
}
