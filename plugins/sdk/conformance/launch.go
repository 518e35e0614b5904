// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// markEnv marks the processes of one start, so that those that it leaves behind are found.
const markEnv = "PIPEDECK_CONFORMANCE"

// marks counts the starts of this process.
var marks atomic.Int64

// process is a program that was started.
type process struct {
	command *exec.Cmd
	output  *capture
	mark    string
	// exited is closed once the process has ended; err and left are valid then.
	exited chan struct{}
	err    error
	// left are processes that went on after the end, and were killed then.
	left []string
}

// launch says how a program is started.
type launch struct {
	path string
	args []string
	env  []string
	dir  string
	// orphanable has the program be the child of a shell, in the place of piped, that can be killed alone.
	orphanable bool
	parentPipe *os.File
}

// wrapper starts the program in the background of a shell, without a descriptor of ours but the pipe of piped.
const wrapper = `"$0" "$@" & wait`

func (s *suite) spawn(l launch) (*process, error) {
	mark := fmt.Sprintf("%d-%d-%d", os.Getpid(), time.Now().UnixNano(), marks.Add(1))
	p := &process{output: &capture{to: s.output}, mark: mark, exited: make(chan struct{})}
	p.command = exec.Command(l.path, l.args...)
	if l.orphanable {
		p.command = exec.Command("/bin/sh", append([]string{"-c", wrapper, l.path}, l.args...)...)
		p.command.ExtraFiles = []*os.File{l.parentPipe}
	}
	p.command.Dir = l.dir
	p.command.Env = append(append(os.Environ(), markEnv+"="+mark), l.env...)
	p.command.Stdout, p.command.Stderr = p.output, p.output
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.command.WaitDelay = time.Second // a child may hold the output open
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start the program %s: %w", l.path, err)
	}
	go func() {
		defer close(p.exited)
		p.err = p.command.Wait()
		if errors.Is(p.err, exec.ErrWaitDelay) {
			p.err = nil
		}
		p.output.end()
		if l.orphanable {
			return
		}
		p.left = marked(p.mark)
		p.killAll()
	}()
	return p, nil
}

// killAll ends what was started, also processes that have left the group.
func (p *process) killAll() {
	_ = syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL)
	for _, pid := range markedPids(p.mark) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// kill ends the process as a crash would, and waits for it.
func (p *process) kill() {
	p.killAll()
	<-p.exited
}

func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// wait returns whether the process ends within the limit.
func (p *process) wait(ctx context.Context, limit time.Duration) bool {
	return p.within(ctx, limit, p.exited)
}

// end says how the process has ended, with its last words.
func (p *process) end() string {
	text := "exit code 0"
	if p.err != nil {
		text = p.err.Error()
	}
	if last := p.output.lastWords(); last != "" {
		text += ": " + last
	}
	return text
}

// ended returns nil for an end that piped takes for a regular one after SIGTERM.
func (p *process) ended() error {
	var exit *exec.ExitError
	if errors.As(p.err, &exit) {
		if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() && s.Signal() == syscall.SIGTERM {
			return nil
		}
	}
	return p.err
}

// try runs the program to its end, for starts that must not serve. The second result is whether it has ended by itself
// within the limit.
func (s *suite) try(ctx context.Context, limit time.Duration, args ...string) (*process, bool, error) {
	p, err := s.launch(args...)
	if err != nil {
		return nil, false, err
	}
	ended := p.wait(ctx, limit)
	p.kill()
	return p, ended, ctx.Err()
}

// launch starts the program in an empty directory; the caller kills it.
func (s *suite) launch(args ...string) (*process, error) {
	dir, err := os.MkdirTemp(s.scratch, "run-")
	if err != nil {
		return nil, err
	}
	path, err := filepath.Abs(s.options.Program)
	if err != nil {
		return nil, err
	}
	return s.spawn(launch{path: path, args: args, dir: dir})
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
