// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

// defaultTerm is what a container runtime says of a terminal that it makes.
const defaultTerm = "TERM=xterm"

// runOnTerminal runs a command on a new terminal to its end.
func runOnTerminal(cmd *command, in io.Reader, out io.Writer, resize <-chan remotecommand.TerminalSize) error {
	mine, its, err := pty.Open()
	if err != nil {
		return fmt.Errorf("make a terminal: %w", err)
	}
	defer mine.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = its, its, its
	if !hasTerm(cmd.Env) {
		cmd.Env = append(cmd.Env, defaultTerm)
	}
	// The leader of a session leads a process group, too. Ctty is a descriptor of the command.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go resizeTerminal(ctx, mine, resize)
	err = cmd.start()
	its.Close()
	if err != nil {
		return err
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = io.Copy(out, mine) // ends with an error when the last program on the terminal has ended
	}()
	if in != nil {
		go func() { _, _ = io.Copy(mine, in) }() // ends with the client's input, or when the terminal is closed
	}
	err = cmd.wait()
	late := time.NewTimer(lastOutput)
	defer late.Stop()
	select {
	case <-written:
	case <-late.C: // a program that it left behind holds the terminal
	}
	return err
}

// resizeTerminal gives a terminal the size of the user's until ctx ends.
func resizeTerminal(ctx context.Context, terminal *os.File, sizes <-chan remotecommand.TerminalSize) {
	for {
		select {
		case <-ctx.Done():
			return
		case size, ok := <-sizes:
			if !ok {
				return
			}
			// One that is closed has no size to change.
			_ = pty.Setsize(terminal, &pty.Winsize{Rows: size.Height, Cols: size.Width})
		}
	}
}

func hasTerm(environ []string) bool {
	for _, variable := range environ {
		if strings.HasPrefix(variable, "TERM=") {
			return true
		}
	}
	return false
}
