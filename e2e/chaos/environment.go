// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/e2e/drive"
)

// exitDegraded is the exit code of `pipedeck status` while anything is degraded.
const exitDegraded = 5

// patience bounds the wait for any one thing: machines that run this are slow and shared.
const patience = 2 * time.Minute

// environmentName is the name below the state directory.
const environmentName = "chaos"

// environment is one `pipedeck up` with a user interface on a pseudo-terminal, and what is seen of it.
type environment struct {
	bin, state, ledger string
	flags              []string
	repository         *repository
	view               *view
	findings           *findings

	mu sync.Mutex
	ui *screen
}

// screen is a pipedeck on a pseudo-terminal. What it draws is read and dropped.
type screen struct {
	cmd  *exec.Cmd
	done chan struct{}
}

func (e *environment) command(ctx context.Context, args ...string) *exec.Cmd {
	return drive.Environment{Bin: e.bin, StateDir: e.state, Name: environmentName}.Command(ctx, args...)
}

// open draws the environment on a terminal: `pipedeck up` starts it where it does not run.
func (e *environment) open() error {
	cmd := e.command(context.Background(), append([]string{"up", e.repository.dir}, e.flags...)...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 120, Rows: 40})
	if err != nil {
		return fmt.Errorf("open the user interface: %w", err)
	}
	s := &screen{cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		_, _ = io.Copy(io.Discard, terminal) // a terminal whose other end is closed reports an error
		_ = cmd.Wait()
		terminal.Close()
	}()
	e.mu.Lock()
	e.ui = s
	e.mu.Unlock()
	return nil
}

func (e *environment) screen() *screen {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ui
}

func (s *screen) kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
}

// pipedeck runs a command to its end.
func (e *environment) pipedeck(ctx context.Context, args ...string) (stdout, stderr string, code int, err error) {
	r, err := drive.Run(e.command(ctx, args...))
	return r.Stdout, r.Stderr, r.Code, err
}

// healthy waits until `pipedeck status` ends with 0: nothing is degraded any more.
func (e *environment) healthy(ctx context.Context) error {
	return e.statusIs(ctx, 0, patience)
}

// statusIs waits until `pipedeck status` ends with the code.
func (e *environment) statusIs(ctx context.Context, want int, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var last string
	for {
		stdout, stderr, code, err := e.pipedeck(ctx, "status")
		if err == nil && code == want {
			return nil
		}
		last = fmt.Sprintf("exit code %d\n%s%s", code, stdout, stderr)
		if pause(ctx, 200*time.Millisecond) != nil {
			return fmt.Errorf("pipedeck status did not end with %d within %s: %s", want, within, last)
		}
	}
}

// describe is what a user would look at first: the status and the end of the host's log.
func (e *environment) describe(ctx context.Context) string {
	stdout, stderr, code, err := e.pipedeck(ctx, "status")
	text := fmt.Sprintf("pipedeck status ended with %d (%v):\n%s%s", code, err, stdout, stderr)
	for _, log := range []string{"host.log", "piped.log"} {
		content, err := os.ReadFile(filepath.Join(e.state, environmentName, "logs", log))
		if err != nil {
			text += err.Error() + "\n"
			continue
		}
		text += "==> " + log + "\n" + string(content[max(0, len(content)-600):])
	}
	return text
}

func (e *environment) published() (*workspace.Running, error) {
	w, err := workspace.At(e.state, environmentName)
	if err != nil {
		return nil, err
	}
	return w.Published()
}

// down ends the environment and checks that nothing of it is left.
func (e *environment) down(ctx context.Context) error {
	_, stderr, code, err := e.pipedeck(ctx, "down")
	if err != nil {
		return err
	}
	if code != 0 {
		e.findings.add("down ended with %d: %s", code, stderr)
	}
	if s := e.screen(); s != nil {
		s.kill()
	}
	if _, err := os.Stat(filepath.Join(e.state, environmentName)); !errors.Is(err, os.ErrNotExist) {
		e.findings.add("left behind: %s (%v)", filepath.Join(e.state, environmentName), err)
	}
	return e.nothingLeft(ctx, endsWithin)
}

// nothingLeft waits for the end of every process that names the environment's directories in its command line, but
// those given.
func (e *environment) nothingLeft(ctx context.Context, within time.Duration, but ...int) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		left, err := e.processes(ctx, but)
		if err != nil {
			return err
		}
		if len(left) == 0 {
			return nil
		}
		if pause(ctx, 100*time.Millisecond) != nil {
			e.findings.add("processes left behind: %s", strings.Join(left, "; "))
			return nil
		}
	}
}

func (e *environment) processes(ctx context.Context, but []int) ([]string, error) {
	out, err := exec.CommandContext(context.WithoutCancel(ctx), "ps", "-axww", "-o", "pid=,stat=,command=").Output()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var left []string
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) > 2 && fields[1][0] != 'Z' && !slices.Contains(but, number(fields[0])) &&
			(strings.Contains(line, e.state) || strings.Contains(line, e.ledger)) {
			left = append(left, strings.TrimSpace(line))
		}
	}
	return left, nil
}

// number is 0 for what is not one.
func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// kill ends a process as SIGKILL does.
func kill(pid int) error {
	if pid <= 1 {
		return fmt.Errorf("refuse to kill process %d", pid)
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

// pause waits for a moment, or returns why ctx ended before.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
