// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// command is a program in the surroundings of a container, in a separate process group.
type command struct {
	*exec.Cmd
	launch func(*exec.Cmd) (forget func(), err error)
	forget func()
}

// command prepares a program. It is killed with its process group when ctx ends.
func (i Inside) command(ctx context.Context, argv []string) (*command, error) {
	argv = copyWithin(i.Root, argv)
	path, err := i.lookUp(argv[0])
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path)
	cmd.Args, cmd.Dir, cmd.Env = argv, i.Dir, i.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c := &command{Cmd: cmd, launch: i.Launch}
	cmd.Cancel = c.kill
	return c, nil
}

// start starts the program and makes it part of the pod.
func (c *command) start() (err error) {
	if c.launch == nil {
		return c.Start()
	}
	c.forget, err = c.launch(c.Cmd)
	return err
}

// wait waits for the program's end. What it has left behind in its process group is ended: no one would do it later.
func (c *command) wait() error {
	err := c.Wait()
	_ = c.kill()
	if c.forget != nil {
		c.forget()
	}
	return err
}

// kill ends the process group. One without processes is os.ErrProcessDone, as exec.Cmd wants it.
func (c *command) kill() error {
	err := syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// lookUp returns the path of a program as a shell in the container's surroundings would find it.
func (i Inside) lookUp(name string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(i.Dir, name)
		}
		return name, nil
	}
	for _, dir := range filepath.SplitList(i.variable("PATH")) {
		if !filepath.IsAbs(dir) {
			continue // as in exec.LookPath: a program in the working directory is not meant
		}
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("find %s in $PATH: %w", name, fs.ErrNotExist)
}

func (i Inside) variable(name string) string {
	for _, variable := range i.Env {
		if value, found := strings.CutPrefix(variable, name+"="); found {
			return value
		}
	}
	return ""
}
