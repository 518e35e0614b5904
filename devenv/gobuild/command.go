// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package gobuild

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// interruptGrace is the time for an interrupted go command to clean up.
	interruptGrace = 5 * time.Second
	// niceness of compilers; 19 is the nicest.
	niceness = 10
)

// ErrNoGo says that there is no go command on this machine.
var ErrNoGo = errors.New("there is no go command; install Go from https://go.dev/dl")

// Command returns the go command with arguments in a directory. environ is added to the environment of this process.
// The end of ctx interrupts it together with the compilers that it runs, so that it removes its temporary files.
func Command(ctx context.Context, dir string, environ []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = interruptGrace
	cmd.Env = append(append(os.Environ(), "PWD="+dir), environ...)
	return cmd
}

// Nice lets what else is starting go first: a cluster, a user interface. The command has been started. It works as well
// without, only not as nicely, so that no error is reported.
func Nice(cmd *exec.Cmd) { _ = unix.Setpriority(unix.PRIO_PGRP, cmd.Process.Pid, niceness) }
