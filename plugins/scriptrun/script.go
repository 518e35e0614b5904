// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// script is one run of a shell script.
type script struct {
	text   string
	dir    string
	env    []string
	output io.Writer
	// stopGrace is the time between SIGTERM and SIGKILL, and the longest wait for the output of processes
	// that a script leaves behind.
	stopGrace time.Duration
}

// outcome is how a script ended.
type outcome struct {
	success bool
	// how is the exit code or signal in words.
	how string
	// stopped is whether the context ended the script.
	stopped bool
	// detached is whether processes of the script live on with its output open.
	detached bool
}

// run starts the script in a process group of its own and returns when it has ended. When ctx ends, the
// whole group gets SIGTERM, then SIGKILL, and nothing of it lives on. An error means it did not start.
func (s *script) run(ctx context.Context) (outcome, error) {
	// The kernel ends the script with the thread that started it (Linux), so that must be ours.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	cmd := exec.Command("/bin/sh", "-l", "-c", s.text)
	cmd.Dir = s.dir
	cmd.Env = s.env
	cmd.Stdout = s.output
	cmd.Stderr = s.output // the same writer: both share one pipe, in the order of writing
	cmd.SysProcAttr = processAttributes()
	cmd.WaitDelay = s.stopGrace
	if err := ctx.Err(); err != nil {
		return outcome{stopped: true, how: "it had not been started"}, nil
	}
	if err := cmd.Start(); err != nil {
		return outcome{}, fmt.Errorf("start /bin/sh in %s: %w", s.dir, err)
	}
	group := cmd.Process.Pid
	ended := make(chan struct{})
	stopped := make(chan bool, 1)
	go func() { stopped <- s.stopGroup(ctx, group, ended) }()

	err := cmd.Wait()
	close(ended)
	result := outcome{success: cmd.ProcessState.Success(), how: describe(cmd), stopped: <-stopped}
	if result.stopped {
		// What ignored SIGTERM, or outlived the shell with its output elsewhere.
		_ = syscall.Kill(-group, syscall.SIGKILL)
	} else {
		result.detached = errors.Is(err, exec.ErrWaitDelay)
	}
	return result, nil
}

// stopGroup ends the process group when ctx ends first, and tells whether it did.
func (s *script) stopGroup(ctx context.Context, group int, ended <-chan struct{}) bool {
	select {
	case <-ended:
		return false
	case <-ctx.Done():
	}
	select {
	case <-ended: // at the same moment
		return false
	default:
	}
	_ = syscall.Kill(-group, syscall.SIGTERM)
	grace := time.NewTimer(s.stopGrace)
	defer grace.Stop()
	select {
	case <-ended:
	case <-grace.C:
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
	return true
}

func describe(cmd *exec.Cmd) string {
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return "killed by signal " + status.Signal().String()
	}
	return fmt.Sprintf("exit code %d", cmd.ProcessState.ExitCode())
}
