// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

const (
	// lastOutput is how long a command's output is waited for after its end: a program that it left behind may hold it.
	lastOutput = time.Second
	// exitNotStarted is a shell's exit code for a command that is not there.
	exitNotStarted = 127
	// exitSignal plus the number of a signal is a shell's exit code for a command that it ended.
	exitSignal = 128
)

// executor runs a command in the surroundings of a container.
type executor struct{ inside Inside }

var _ remotecommand.Executor = executor{}

// ExecInContainer implements remotecommand.Executor. The container and the pod are known already.
func (e executor) ExecInContainer(
	ctx context.Context, _, _, _ string, argv []string, in io.Reader, out, errOut io.WriteCloser, tty bool,
	resize <-chan remotecommand.TerminalSize, _ time.Duration,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-e.inside.Ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	cmd, err := e.inside.command(ctx, argv)
	if err == nil && tty {
		err = runOnTerminal(cmd, in, out, resize)
	} else if err == nil {
		err = runOnPipes(cmd, in, out, errOut)
	}
	return exitStatus(err, out, errOut)
}

// runOnPipes runs a command to its end. Its input ends when the client's does.
func runOnPipes(cmd *command, in io.Reader, out, errOut io.WriteCloser) error {
	// A nil stream in an interface would not be nil there.
	if out != nil {
		cmd.Stdout = out
	}
	if errOut != nil {
		cmd.Stderr = errOut
	}
	cmd.WaitDelay = lastOutput
	if in == nil {
		if err := cmd.start(); err != nil {
			return err
		}
		return cmd.wait()
	}
	// With the reader itself, the command's end would wait for the client to close its input.
	input, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("make a pipe for standard input: %w", err)
	}
	if err := cmd.start(); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(input, in) // a command may end, or close its input, before it has read all
		_ = input.Close()
	}()
	return cmd.wait()
}

// exitStatus returns the error that becomes the exit code of kubectl. Why a command could not be started is written to
// the user, who sees nothing but the code otherwise.
func exitStatus(err error, out, errOut io.WriteCloser) error {
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return nil
	case errors.As(err, &exit):
		code := exit.ExitCode()
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			code = exitSignal + int(status.Signal())
		}
		return utilexec.CodeExitError{Err: err, Code: code}
	}
	if errOut == nil {
		errOut = out
	}
	if errOut != nil {
		_, _ = fmt.Fprintf(errOut, "%v\r\n", err) // a client that has gone needs no reason
	}
	return utilexec.CodeExitError{Err: err, Code: exitNotStarted}
}
