// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/embedded/sources"
	"github.com/pipedeck/pipedeck/devenv/cluster/embedded/trim"
	"github.com/pipedeck/pipedeck/devenv/gobuild"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/system/filelock"
)

// lockPoll is how often it is looked whether another process has compiled.
const lockPoll = 200 * time.Millisecond

// trimmedModules is the folder of the copy of the sources that holds modules of which files are left out.
const trimmedModules = "trimmed"

// compile builds the module of files into path. It works on a copy, so that nothing else can get in. Only one process
// compiles at a time; the others wait for it and use its result.
func compile(ctx context.Context, files sources.Files, path string, progress cluster.Progress) (err error) {
	if _, err := exec.LookPath("go"); err != nil {
		return fmt.Errorf("compile the embedded Kubernetes: %w", gobuild.ErrNoGo)
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
	environ := append(gobuild.Environ(), "GOWORK=off")
	if err := trimModules(ctx, source, environ); err != nil {
		return fmt.Errorf("compile the embedded Kubernetes: %w", err)
	}
	// Compiled aside and renamed: an interrupted compilation leaves nothing that looks finished.
	partial := path + ".partial"
	defer os.Remove(partial)
	// A workspace or flags of the user's own project must not reach into this module.
	build := gobuild.Build{
		Dir: source, Environ: environ, Flags: append(gobuild.Flags(), trim.Flags()...),
		Output: partial, Packages: []string{"."},
	}
	if err := build.Run(ctx, gobuild.Progress(progress)); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return fmt.Errorf("compile the embedded Kubernetes: %w", err)
	}
	return os.Rename(partial, path)
}

// trimModules changes the copy of the sources so that it is compiled with less of its modules.
func trimModules(ctx context.Context, source string, environ []string) error {
	content, err := trim.Module(ctx, source, filepath.Join(source, trimmedModules), trimmedModules, environ)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(source, "go.mod"), content, 0o600)
}

// lock waits until no other process compiles into dir.
func lock(ctx context.Context, dir string, progress cluster.Progress) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		return func() { _ = filelock.Release(file) }, nil
	}
	progress("another pipedeck is compiling it", 0, 0)
	// A lock cannot be waited for together with a cancellation, hence the pauses.
	for clock.Sleep(ctx, lockPoll) {
		if unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			return func() { _ = filelock.Release(file) }, nil
		}
	}
	file.Close()
	return nil, context.Cause(ctx)
}
