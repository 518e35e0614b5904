// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/creack/pty"
)

// benchStart measures from the command to an answering API and a deployed hello-world, in a fresh
// environment each time.
func benchStart(ctx context.Context, bin, dir string, n int) error {
	var api, deployed []time.Duration
	for i := range n {
		state := filepath.Join(dir, fmt.Sprintf("start-%d", i))
		s, err := start(ctx, bin, state, "--sample", "hello-world", "--cluster", "embedded", "--keep=false")
		if err != nil {
			return err
		}
		e, err := s.await("the API answers", component("kubernetes", "READY"))
		if err != nil {
			return errors.Join(err, s.stop())
		}
		api = append(api, e.At.Sub(s.began))
		if e, err = s.await("hello-world is deployed", deployment("hello-world", "SUCCESS")); err != nil {
			return errors.Join(err, s.stop())
		}
		deployed = append(deployed, e.At.Sub(s.began))
		if err := s.stop(); err != nil {
			return err
		}
	}
	figures("pipedeck up -> Kubernetes API ready", api)
	figures("pipedeck up -> hello-world deployed", deployed)
	return nil
}

// benchScreen measures from the command to the first frame in a real terminal.
func benchScreen(ctx context.Context, bin, dir string, n int) error {
	return firstFrames(ctx, bin, dir, n, "pipedeck up -> first frame of the UI", "--sample", "hello-world",
		"--cluster", "embedded")
}

// benchFirstBytes measures the same without a cluster.
func benchFirstBytes(ctx context.Context, bin, dir string, n int) error {
	repository := filepath.Join(dir, "repository")
	if err := makeRepository(repository); err != nil {
		return err
	}
	return firstFrames(ctx, bin, dir, n, "pipedeck up -> first 500 bytes on the terminal", repository,
		"--cluster", "none")
}

// firstFrames starts a fresh environment with these arguments n times.
func firstFrames(ctx context.Context, bin, dir string, n int, name string, arguments ...string) error {
	var first []time.Duration
	for i := range n {
		state := filepath.Join(dir, fmt.Sprintf("screen-%d", i))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		took, err := firstFrame(environment(bin, state).Command(ctx, append([]string{"up"}, arguments...)...))
		if err = errors.Join(err, endEnvironment(ctx, bin, state)); err != nil {
			return err
		}
		first = append(first, took)
	}
	figures(name, first, limit{"median", 100})
	return nil
}

// endEnvironment ends an environment whose UI was killed.
func endEnvironment(ctx context.Context, bin, state string) error {
	// One that has not published itself yet would not be found, and go on.
	for tries := 0; tries < 200 && environment(bin, state).Command(ctx, "status").Run() != nil; tries++ {
		time.Sleep(50 * time.Millisecond)
	}
	if out, err := environment(bin, state).Command(context.Background(), "down").CombinedOutput(); err != nil {
		return fmt.Errorf("pipedeck down: %w: %s", err, out)
	}
	return nil
}

// firstFrame runs a command on a terminal until it has drawn more than its opening sequences.
func firstFrame(cmd *exec.Cmd) (time.Duration, error) {
	const opening = 500
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	began := time.Now()
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 100, Rows: 30})
	if err != nil {
		return 0, err
	}
	defer terminal.Close()
	buffer := make([]byte, 64<<10)
	for drawn := 0; drawn < opening; {
		read, err := terminal.Read(buffer)
		if err != nil {
			return 0, fmt.Errorf("the UI ended before its first frame: %w", err)
		}
		drawn += read
	}
	took := time.Since(began)
	// The environment runs in a separate process; only the UI is ended here.
	return took, errors.Join(cmd.Process.Kill(), ignoreExit(cmd.Wait()))
}

func ignoreExit(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil
	}
	return err
}
