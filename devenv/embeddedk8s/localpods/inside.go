// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/containers"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/programs"
)

const (
	// maxOutput bounds what is kept of the output of a probe or a hook.
	maxOutput = 10 << 10
	// outputPatience is how long the output of a command is waited for that has ended but left others behind.
	outputPatience = time.Second
)

// inside is the surroundings of one run of a container, for further programs in it: probes and hooks.
type inside struct {
	program programs.Program
	env     []string
	dir     string
	search  string
	process *containers.Process
}

func (c *container) inside() inside {
	return inside{
		program: c.run.program, env: c.run.env, dir: c.run.dir, search: searchPath(), process: c.run.process,
	}
}

// run runs a command that a manifest names and returns the beginning of its output. It is ended with ctx, with all that
// it has started in its process group.
func (i inside) run(ctx context.Context, command []string) (output string, err error) {
	if len(command) == 0 {
		return "", errors.New("no command is given")
	}
	path, err := allowed(i.program, command[0], i.search)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, path, command[1:]...)
	cmd.Env, cmd.Dir = i.env, i.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = outputPatience
	kept := &bounded{}
	cmd.Stdout, cmd.Stderr = kept, kept
	forget, err := i.process.Launch(cmd)
	if err != nil {
		return "", err
	}
	defer forget()
	err = cmd.Wait()
	if ctx.Err() != nil {
		err = fmt.Errorf("%s did not end in time", command[0])
	}
	return string(kept.data), err
}

// bounded keeps the beginning of what is written to it.
type bounded struct{ data []byte }

func (b *bounded) Write(data []byte) (int, error) {
	b.data = append(b.data, data[:min(len(data), maxOutput-len(b.data))]...)
	return len(data), nil
}
