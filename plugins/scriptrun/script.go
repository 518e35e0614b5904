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

	"github.com/pipedeck/pipedeck/system/processtree"
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
	// exitCode is -1 for a script that a signal ended.
	exitCode int
	// how is the exit code or signal in words.
	how string
	// stopped is whether the context ended the script.
	stopped bool
	// detached is whether processes of the script live on with its output open.
	detached bool
	// left says which processes of a stopped or failed script could not be ended; nil for none.
	left error
}

// run starts the script and returns when it has ended. When ctx ends, everything that descends from the script gets
// SIGTERM, then SIGKILL, and none of it lives on; so it is when the script fails, at once. An error means that it did
// not start.
func (s *script) run(ctx context.Context) (outcome, error) {
	// The kernel ends the script with the thread that started it (Linux), so that must be ours.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	if err := ctx.Err(); err != nil {
		return outcome{stopped: true, how: "it had not been started"}, nil
	}
	tree := processtree.New()
	if processtree.InGroup() {
		_ = tree.CreateGroup("") // without one, the tree is known by its environment
		defer tree.RemoveGroups()
	}
	cmd, err := tree.Start(s.command)
	if err != nil {
		return outcome{}, fmt.Errorf("start /bin/sh in %s: %w", s.dir, err)
	}
	ended := make(chan struct{})
	stopped := make(chan bool, 1)
	go func() { stopped <- s.stop(ctx, tree, ended) }()

	err = cmd.Wait()
	close(ended)
	result := outcome{
		success: cmd.ProcessState.Success(), exitCode: cmd.ProcessState.ExitCode(), how: describe(cmd),
		stopped: <-stopped,
	}
	if result.stopped || !result.success {
		result.left = end(tree)
	} else {
		result.detached = errors.Is(err, exec.ErrWaitDelay)
	}
	return result, nil
}

func (s *script) command() *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-l", "-c", s.text)
	cmd.Dir = s.dir
	cmd.Env = s.env
	cmd.Stdout = s.output
	cmd.Stderr = s.output // the same writer: both share one pipe, in the order of writing
	cmd.SysProcAttr = processAttributes()
	cmd.WaitDelay = s.stopGrace
	return cmd
}

// stop ends the script when ctx ends first, and reports whether it did.
func (s *script) stop(ctx context.Context, tree *processtree.Tree, ended <-chan struct{}) bool {
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
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.stopGrace)
	defer cancel()
	_ = tree.Terminate(grace)
	_ = end(tree)
	return true
}

// end ends what is left of a script, and returns what cannot be ended.
func end(tree *processtree.Tree) error {
	ctx, cancel := context.WithTimeout(context.Background(), processtree.EndTimeout)
	defer cancel()
	_, err := tree.End(ctx)
	return err
}

func describe(cmd *exec.Cmd) string {
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return fmt.Sprintf("ended by signal %d (%s)", int(status.Signal()), status.Signal())
	}
	return fmt.Sprintf("exit code %d", cmd.ProcessState.ExitCode())
}
