// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package debugger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/devenv/process"
)

// Install is the command that installs Delve.
const Install = "go install github.com/go-delve/delve/cmd/dlv@latest"

// FirstPort is Delve's usual port, of the first plugin that is debugged.
const FirstPort = 2345

const (
	// attachTime is how long Delve may take to read a program and to attach to its process.
	attachTime = 30 * time.Second
	// detachTime is how long Delve may take to let a process go.
	detachTime = 3 * time.Second
)

// Find returns the path of Delve: in PATH, or where the go command installs it.
func Find() (string, error) {
	if path, err := exec.LookPath("dlv"); err == nil {
		return path, nil
	}
	dirs := []string{os.Getenv("GOBIN")}
	for _, dir := range filepath.SplitList(os.Getenv("GOPATH")) {
		dirs = append(dirs, filepath.Join(dir, "bin"))
	}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, "go", "bin"))
	}
	for _, dir := range dirs {
		if path := filepath.Join(dir, "dlv"); dir != "" && exec.Command(path, "version").Run() == nil {
			return path, nil
		}
	}
	return "", errors.New("the debugger of Go, Delve, is not installed")
}

// Status is what a Debugger is doing.
type Status struct {
	// PID is the process that it holds; 0 for none.
	PID int
	// At is where the process stands, such as "stage.go:57 (main.greet)" or "a pause"; empty while it runs.
	At string
	// Err is why it does not hold the process of the plugin; nil when it does.
	Err error
}

// Debugger debugs the processes of one plugin.
type Debugger struct {
	// Delve is the path of its program.
	Delve string
	// Address is where it listens for clients, 127.0.0.1:PORT.
	Address string
	// Source is the directory of the plugin's package: places in it are shown relative to it. May be empty.
	Source string
	// LogFile gets what Delve writes.
	LogFile string
	// Next waits for a process of the plugin that is not pid.
	Next func(ctx context.Context, pid int) (int, error)
	// Report is called with each change of the status, by one goroutine at a time.
	Report func(Status)
}

// Run debugs one process of the plugin after the other until ctx ends.
func (d *Debugger) Run(ctx context.Context) error {
	pid := 0
	for {
		next, err := d.Next(ctx, pid)
		if err != nil {
			return nil // the environment ends
		}
		pid = next
		err = d.debug(ctx, pid)
		if ctx.Err() == nil {
			d.Report(Status{Err: err}) // it holds no process, until there is another one
		}
	}
}

// debug holds one process until it ends, or another one has replaced it and it stands at no breakpoint.
func (d *Debugger) debug(ctx context.Context, pid int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	listening := make(chan string, 1)
	delve, err := process.Start(process.Spec{
		Name: "dlv", Path: d.Delve, LogFile: d.LogFile,
		Args: []string{"attach", strconv.Itoa(pid), "--headless", "--accept-multiclient", "--continue",
			"--only-same-user", "--listen", d.Address},
		Line: func(line string) {
			if _, at, found := strings.Cut(line, "listening at: "); found {
				select {
				case listening <- strings.TrimSpace(at):
				default:
				}
			}
		},
	})
	if err != nil {
		return err
	}
	defer func() { delve.Stop(context.WithoutCancel(ctx), detachTime) }()
	select {
	case <-listening:
	case <-delve.Done():
		return explain(delve)
	case <-time.After(attachTime):
		return fmt.Errorf("dlv did not attach to process %d within %s", pid, attachTime)
	case <-ctx.Done():
		return nil
	}
	return d.follow(ctx, pid, delve)
}

// follow reports where the process stands, until it is time for another one.
func (d *Debugger) follow(ctx context.Context, pid int, delve *process.Process) error {
	places, replaced := make(chan place), make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	watched, waited := make(chan struct{}), make(chan struct{})
	defer func() { cancel(); <-watched; <-waited }()
	go func() {
		defer close(watched)
		watchPlaces(ctx, d.Address, places)
	}()
	go func() {
		defer close(waited)
		if _, err := d.Next(ctx, pid); err == nil {
			close(replaced)
		}
	}()
	at := place{running: true}
	for {
		next := replaced
		if !at.running {
			next = nil // its author looks at it
		}
		select {
		case at = <-places:
			if at.gone {
				return nil
			}
			d.Report(Status{PID: pid, At: at.relative(d.Source)})
		case <-next:
			return nil
		case <-delve.Done():
			if ctx.Err() != nil {
				return nil
			}
			return explain(delve)
		case <-ctx.Done():
			return nil
		}
	}
}

// explain is why Delve has ended.
func explain(delve *process.Process) error {
	why := delve.Summary()
	switch {
	case strings.Contains(why, "ptrace_scope"), strings.Contains(why, "operation not permitted"):
		return fmt.Errorf("this system does not let Delve attach to a process: %s; next step: sudo sysctl "+
			"kernel.yama.ptrace_scope=0", why)
	case strings.Contains(why, "address already in use"):
		return fmt.Errorf("%s; next step: choose another port with --debug NAME=PORT", why)
	}
	return errors.New(why)
}
