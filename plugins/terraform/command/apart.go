// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/pipedeck/pipedeck/system/processtree"
)

// A program that changes something has to outlive this process: its state is in memory until it ends. So this program
// starts itself, which starts itself again and ends, which runs the program and writes how it ended. What ends this
// process and all that descends from it does not reach it then. The lock of the state keeps a second one from working
// at the same time.

// apartVariable holds an order for this program in place of a plugin.
const apartVariable = "PIPEDECK_TERRAFORM_APART"

// order is what to run apart.
type order struct {
	Program string
	Args    []string
	// Dir is the directory of the program, Result the one for the files pid and code.
	Dir, Result string
	// Alone is set for the second one, which runs the program.
	Alone bool
}

// Apart carries out an order, and ends the process, where there is one. Main functions call it first.
func Apart() {
	text := os.Getenv(apartVariable)
	if text == "" {
		return
	}
	var o order
	err := json.Unmarshal([]byte(text), &o)
	if err == nil && o.Alone {
		err = o.run()
	} else if err == nil {
		o.Alone = true
		err = o.start(os.Stdout, os.Stderr, os.Environ())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// start starts this program with the order, in a separate session, and does not wait for it.
func (o order) start(stdout, stderr *os.File, env []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	cmd := exec.Command(self) //nolint:gosec // this program
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.Env = append(without(env, apartVariable, processtree.Variable), apartVariable+"="+string(text))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s apart: %w", o.Program, err)
	}
	if o.Alone {
		return nil
	}
	return cmd.Wait()
}

func without(env []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(names, name)
	})
}

// run runs the program to its end.
func (o order) run() error {
	leaveGroup()
	cmd := exec.Command(o.Program, o.Args...) //nolint:gosec // the program that the operator names
	cmd.Dir, cmd.Stdout, cmd.Stderr = o.Dir, os.Stdout, os.Stderr
	cmd.Env = without(os.Environ(), apartVariable)
	if err := cmd.Start(); err != nil {
		_ = o.write("code", "127")
		return fmt.Errorf("start %s: %w", o.Program, err)
	}
	if err := o.write("pid", fmt.Sprintf("%d %d", os.Getpid(), cmd.Process.Pid)); err != nil {
		return err
	}
	_ = cmd.Wait() // the process state has how it ended
	return o.write("code", strconv.Itoa(codeOf(cmd.ProcessState)))
}

// write writes a whole file or none. No one may read it any more.
func (o order) write(name, content string) error {
	path := filepath.Join(o.Result, name)
	if err := os.WriteFile(path+".new", []byte(content), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// code is how the program ended, as codeOf says it; ended is false while it runs.
func (o order) code() (code int, ended bool, err error) {
	data, err := os.ReadFile(filepath.Join(o.Result, "code"))
	if err == nil {
		code, err = strconv.Atoi(string(data))
		return code, true, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return 0, false, err
	}
	runner, _, err := o.pids()
	if err != nil || runner == 0 || syscall.Kill(runner, 0) == nil {
		return 0, false, err
	}
	if data, err = os.ReadFile(filepath.Join(o.Result, "code")); err != nil {
		return 0, true, fmt.Errorf("%s was killed, or what waits for it was; %s", o.Program, lacking)
	}
	code, err = strconv.Atoi(string(data))
	return code, true, err
}

// pids are the processes of the one that runs the program and of the program; 0 before they are known.
func (o order) pids() (runner, program int, err error) {
	data, err := os.ReadFile(filepath.Join(o.Result, "pid"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	_, err = fmt.Sscan(string(data), &runner, &program)
	return runner, program, err
}

// interrupt reports whether the program got an interrupt. Its number is its own while the other one waits for it.
func (o order) interrupt() bool {
	_, program, err := o.pids()
	return err == nil && program > 0 && syscall.Kill(program, syscall.SIGINT) == nil
}
