// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

const (
	// followEvery is the pause between two reads of the output of a program that runs: files report nothing.
	followEvery = 50 * time.Millisecond
	// readLimit is how long a command that changes nothing may take to end after an interrupt.
	readLimit = 20 * time.Second
	// MaxOutput bounds the answer of a command, such as a state as JSON, in bytes.
	MaxOutput = 256 << 20
)

// Runner runs one program in one directory.
type Runner struct {
	// Program is the path of tofu or terraform.
	Program string
	// Dir is the directory with the configuration.
	Dir string
	// Env is the whole environment of commands.
	Env []string
	// Secrets are texts that no error and no log line may have.
	Secrets []string
	// Stopped bounds how long a command that changes nothing runs on after an interrupt; 0 is 20 seconds.
	Stopped time.Duration
}

// Command is one run of the program.
type Command struct {
	Args []string
	// Env is added to that of the runner.
	Env []string
	// Output gets what the program writes, while it runs; nil for no one.
	Output io.Writer
	// Changes is set for commands that are not killed, however long they take to end.
	Changes bool
	// LeftAlone says for the cause of the end of the context whether a command that changes something goes on without
	// an interrupt, and Run returns at once; nil is never.
	LeftAlone func(cause error) bool
	// Codes are the exit codes besides 0 that are no failure.
	Codes []int
}

// Result is how a command ended.
type Result struct {
	Code int
	// Stdout is what it wrote there when Output is nil.
	Stdout []byte
}

// Run runs a command to its end. When ctx ends, the program is interrupted once and Run waits for it, unless
// Command.LeftAlone says otherwise; the error wraps the cause of ctx then, and ErrNotBegun where the program has
// changed nothing.
func (r *Runner) Run(ctx context.Context, c Command) (Result, error) {
	if cause := context.Cause(ctx); cause != nil {
		return Result{}, fmt.Errorf("%s: %w: %w", c.name(), ErrNotBegun, cause)
	}
	stdout, err := newSink()
	if err != nil {
		return Result{}, err
	}
	defer stdout.Close()
	stderr := stdout
	if c.Output == nil {
		if stderr, err = newSink(); err != nil {
			return Result{}, err
		}
		defer stderr.Close()
	}
	if c.Changes {
		return r.runApart(ctx, c, stdout, stderr)
	}
	cmd := exec.Command(r.Program, c.Args...) //nolint:gosec // the program that the operator names
	cmd.Dir, cmd.Env = r.Dir, append(append([]string(nil), r.Env...), c.Env...)
	cmd.Stdout, cmd.Stderr = stdout.file, stderr.file
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the interrupt of a terminal is for the plugin alone
	if err := cmd.Start(); err != nil {
		return Result{}, fmt.Errorf("start %s: %w", r.Program, err)
	}
	r.await(ctx, cmd, c, stdout)
	return r.result(ctx, c, codeOf(cmd.ProcessState), stdout, stderr)
}

// runApart runs a command that outlives this process.
func (r *Runner) runApart(ctx context.Context, c Command, stdout, stderr *sink) (Result, error) {
	dir, err := os.MkdirTemp("", "pipedeck-terraform-*")
	if err != nil {
		return Result{}, fmt.Errorf("create a folder for the result: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	o := order{Program: r.Program, Args: c.Args, Dir: r.Dir, Result: dir}
	if err := o.start(stdout.file, stderr.file, append(append([]string(nil), r.Env...), c.Env...)); err != nil {
		return Result{}, err
	}
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	lines := newMask(c.Output, r.Secrets)
	for interrupted := false; ; <-tick.C {
		if cause := context.Cause(ctx); cause != nil && !interrupted {
			if c.LeftAlone != nil && c.LeftAlone(cause) {
				return Result{}, fmt.Errorf("%s goes on by itself: %w", c.name(), cause)
			}
			interrupted = o.interrupt()
		}
		code, ended, err := o.code()
		stdout.follow(lines)
		if err != nil {
			return Result{}, err
		}
		if ended {
			lines.flush()
			return r.result(ctx, c, code, stdout, stderr)
		}
	}
}

// await follows the output of the program until it has ended, and interrupts it when ctx ends.
func (r *Runner) await(ctx context.Context, cmd *exec.Cmd, c Command, output *sink) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // the process state has how it ended
	}()
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	lines := newMask(c.Output, r.Secrets)
	stop, kill := ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case <-ended:
			output.follow(lines)
			lines.flush()
			return
		case <-tick.C:
			output.follow(lines)
		case <-stop:
			stop = nil
			_ = cmd.Process.Signal(os.Interrupt)
			timer := time.NewTimer(r.stopped())
			defer timer.Stop()
			kill = timer.C
		case <-kill:
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	}
}

func (r *Runner) stopped() time.Duration {
	if r.Stopped > 0 {
		return r.Stopped
	}
	return readLimit
}

func (r *Runner) result(ctx context.Context, c Command, code int, stdout, stderr *sink) (Result, error) {
	result := Result{Code: code}
	if c.Output == nil {
		var err error
		if result.Stdout, err = stdout.all(MaxOutput); err != nil {
			return result, err
		}
	}
	failure, err := r.failure(c, code, stderr)
	if cause := context.Cause(ctx); cause != nil {
		if failure != nil && failure.refused() {
			return result, fmt.Errorf("%s was interrupted, %w: %w", c.name(), ErrNotBegun, cause)
		}
		return result, fmt.Errorf("%s was interrupted: %w", c.name(), cause)
	}
	if err != nil || failure == nil {
		return result, err
	}
	return result, failure
}

// failure is that of a program that ended with this code; nil for none.
func (r *Runner) failure(c Command, code int, stderr *sink) (*Failure, error) {
	if code == 0 || slices.Contains(c.Codes, code) {
		return nil, nil
	}
	said, err := stderr.end(maxSaid)
	if err != nil {
		return nil, err
	}
	failure := &Failure{Command: c.name(), How: fmt.Sprintf("exit code %d", code), Said: hide(said, r.Secrets),
		Shown: c.Output != nil, Changes: c.Changes}
	if code < 0 {
		failure.Signal = syscall.Signal(-code)
	}
	return failure, nil
}

// codeOf is the exit code of a program that has ended; for one that a signal has ended, the number below zero.
func codeOf(state *os.ProcessState) int {
	if status, is := state.Sys().(syscall.WaitStatus); is && status.Signaled() {
		return -int(status.Signal())
	}
	return state.ExitCode()
}

// name is the first word, or the first two of "workspace select" and "state pull".
func (c Command) name() string {
	if len(c.Args) > 1 && (c.Args[0] == "workspace" || c.Args[0] == "state") {
		return c.Args[0] + " " + c.Args[1]
	}
	if len(c.Args) > 0 {
		return c.Args[0]
	}
	return "the program"
}

// AsFailure returns the failure that an error wraps.
func AsFailure(err error) (*Failure, bool) {
	var failure *Failure
	return failure, errors.As(err, &failure)
}
