// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/embedded/sources"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// lockPoll is how often it is looked whether another process has compiled.
	lockPoll = 200 * time.Millisecond
	// interruptGrace is the time for an interrupted go command to clean up.
	interruptGrace = 5 * time.Second
)

// compile builds the module of files into path. It works on a copy, so that nothing else can get in. Only one process
// compiles at a time; the others wait for it and use its result.
func compile(ctx context.Context, files sources.Files, path string, progress cluster.Progress) (err error) {
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("compile the embedded Kubernetes: there is no go command; install Go from https://go.dev/dl")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the cache of compiled programs: %w", err)
	}
	unlock, err := lock(ctx, filepath.Dir(path), progress)
	if err != nil {
		return err
	}
	defer unlock()
	if executable(path) {
		return nil
	}
	source := filepath.Join(filepath.Dir(path), "sources")
	if err := workspace.RemoveTree(source); err != nil { // of a compilation that was killed
		return fmt.Errorf("remove the sources of an earlier compilation: %w", err)
	}
	defer func() { err = errors.Join(err, workspace.RemoveTree(source)) }()
	if err := files.Write(source); err != nil {
		return fmt.Errorf("copy the sources of the embedded Kubernetes: %w", err)
	}
	progress("looking what has to be compiled (first use only)", 0, 0)
	total, err := stalePackages(ctx, source)
	if err != nil {
		return err
	}
	// Compiled aside and renamed: an interrupted compilation leaves nothing that looks finished.
	partial := path + ".partial"
	defer os.Remove(partial)
	if err := build(ctx, source, partial, total, progress); err != nil {
		return err
	}
	return os.Rename(partial, path)
}

// build compiles without -trimpath: so the tests of the module find the same packages compiled.
func build(ctx context.Context, source, output string, total int64, progress cluster.Progress) error {
	cmd := goCommand(ctx, source, "build", "-v", "-ldflags=-s -w", "-o", output, ".")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("compile the embedded Kubernetes: %w", err)
	}
	var complaints bytes.Buffer
	var done int64
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		// With -v the go command prints the import path of each package it compiles; anything
		// with a blank is a separate complaint or note.
		if line := lines.Text(); strings.ContainsAny(line, " \t") {
			if complaints.Len() < 4<<10 {
				fmt.Fprintln(&complaints, line)
			}
			continue
		}
		done++
		progress("compiling, on first use only", min(done, total), total)
	}
	// A line that is too long ends the scan; the rest must still be read, or the go command blocks.
	_, _ = io.Copy(io.Discard, stderr)
	if err := cmd.Wait(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("compile the embedded Kubernetes: %w\n%s", err, complaints.String())
	}
	return nil
}

// stalePackages counts the packages that the go command would compile.
func stalePackages(ctx context.Context, source string) (int64, error) {
	var stderr bytes.Buffer
	cmd := goCommand(ctx, source, "list", "-deps", "-f", "{{if .Stale}}x{{end}}", ".")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		return 0, fmt.Errorf("list the packages of the embedded Kubernetes: %w\n%s", err, stderr.String())
	}
	return int64(bytes.Count(out, []byte("x"))), nil
}

func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	// The compilers that it runs have to end with it, and it has to remove its temporary files.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = interruptGrace
	// A workspace or flags of the user's own project must not reach into this module.
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false")
	return cmd
}

// lock waits until no other process compiles into dir.
func lock(ctx context.Context, dir string, progress cluster.Progress) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		return func() { file.Close() }, nil
	}
	progress("another pipedeck is compiling it", 0, 0)
	// A lock cannot be waited for together with a cancellation, hence the pauses.
	for clock.Sleep(ctx, lockPoll) {
		if unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			return func() { file.Close() }, nil
		}
	}
	file.Close()
	return nil, context.Cause(ctx)
}
