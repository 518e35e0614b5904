// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// drainTimeout is how long the output of an ended container is still read: a process that left its group may hold it
// open for ever.
const drainTimeout = time.Second

// Spec is one run of a container.
type Spec struct {
	// Path is the program, Args are the arguments behind it.
	Path string
	Args []string
	// Env is the whole environment.
	Env []string
	// Mark is the value of MarkVariable in Env, which no other run has. By it, processes are found that left the
	// process group. Empty for none.
	Mark string
	Dir  string
	// Stdin asks for a standard input that Process.Stdin writes to; without it the input is empty.
	Stdin bool
	// Log receives the output; the process closes it.
	Log *Log
	// Group holds the processes of the run; nil for none. The process releases it.
	Group *Group
	// Ended is called once the process has ended and its output is written; may be nil.
	Ended func()
}

// Host starts and ends process groups. Its methods may be called from any goroutine.
type Host struct {
	records records
	// starts are done on one thread.
	starts  chan func()
	signals chan os.Signal
	closed  chan struct{}
	stop    context.CancelFunc

	mu      sync.Mutex
	running map[int]*Process
}

// NewHost ends what an earlier Host on the same directory has left, and returns a new one. The directory is created
// for its owner only.
func NewHost(dir string) (*Host, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the directory for records of processes: %w", err)
	}
	records := records{dir}
	if err := records.endLeft(); err != nil {
		return nil, err
	}
	h := &Host{
		records: records, starts: make(chan func()), signals: make(chan os.Signal, 1), closed: make(chan struct{}),
		running: map[int]*Process{},
	}
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	go h.watch(ctx)
	signal.Notify(h.signals, syscall.SIGCHLD)
	go onThread(h.start)
	go h.reap()
	return h, nil
}

// Close ends the Host. It is called once, when all processes have ended.
func (h *Host) Close() {
	signal.Stop(h.signals)
	close(h.closed)
	h.stop()
}

// start starts programs on one thread, which lives as long as the Host: on Linux the kernel ends a child when the
// thread that started it ends, and a child begins in the control groups of that thread.
func (h *Host) start() {
	for {
		select {
		case start := <-h.starts:
			start()
		case <-h.closed:
			return
		}
	}
}

// launch starts a command in a group on the thread for that. See Group.start for prepare.
func (h *Host) launch(group *Group, prepare func() *exec.Cmd) (command *exec.Cmd, err error) {
	done := make(chan struct{})
	select {
	case h.starts <- func() { command, err = group.start(prepare); close(done) }:
		<-done
		return command, err
	case <-h.closed:
		return nil, errClosed
	}
}

var errClosed = errors.New("the cluster is stopping")

// Start starts a container. The log belongs to the process from now on, also when Start fails.
func (h *Host) Start(spec Spec) (*Process, error) {
	input, err := newInput(spec.Stdin)
	if err != nil {
		return nil, errors.Join(err, spec.Log.Close())
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		input.giveAway()
		return nil, errors.Join(err, input.close(), spec.Log.Close())
	}
	command, err := h.launch(spec.Group, func() *exec.Cmd {
		command := exec.Command(spec.Path, spec.Args...)
		command.Env, command.Dir = spec.Env, spec.Dir
		command.Stdout, command.Stderr = writer, writer
		if input != nil {
			command.Stdin = input.reader
		}
		command.SysProcAttr = endWithHost(&syscall.SysProcAttr{Setpgid: true})
		return command
	})
	_ = writer.Close()
	input.giveAway()
	if err != nil {
		spec.Group.release()
		return nil, errors.Join(err, reader.Close(), input.close(), spec.Log.Close())
	}
	p := &Process{
		PID: command.Process.Pid, StartedAt: time.Now(), host: h, spec: spec, ended: make(chan struct{}),
		output: reader, input: input,
	}
	_ = command.Process.Release() // reap waits for it
	problem := h.records.write(p.PID, spec.Mark)
	go p.copyOutput()
	h.mu.Lock()
	h.running[p.PID] = p
	h.mu.Unlock()
	h.look() // it may have ended before it was known
	if problem != nil {
		p.Kill()
		return nil, problem
	}
	return p, nil
}

// look makes reap look for ended processes.
func (h *Host) look() {
	select {
	case h.signals <- syscall.SIGCHLD:
	default:
	}
}

// reap collects the exit codes of processes. One goroutine does that for all of them, so that no thread waits for each.
func (h *Host) reap() {
	for {
		select {
		case <-h.closed:
			return
		case <-h.signals:
		}
		exits := h.collectAll()
		endLeftBehind(exits)
		for p, exit := range exits {
			_ = p.output.SetReadDeadline(time.Now().Add(drainTimeout))
			p.setExit(exit)
		}
	}
}

func (h *Host) collectAll() map[*Process]Exit {
	h.mu.Lock()
	defer h.mu.Unlock()
	var exits map[*Process]Exit
	for pid, p := range h.running {
		exit, ended := collect(pid)
		if !ended {
			continue
		}
		delete(h.running, pid)
		// What the first process has started may have outlived it; its number is not used again while that is so.
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		if exits == nil {
			exits = map[*Process]Exit{}
		}
		exits[p] = exit
	}
	return exits
}

// collect returns how a child has ended, without waiting.
func collect(pid int) (Exit, bool) {
	var status unix.WaitStatus
	got, err := unix.Wait4(pid, &status, unix.WNOHANG, nil)
	switch {
	case errors.Is(err, unix.EINTR):
		return collect(pid)
	case err != nil:
		return Exit{Code: unknownCode, At: time.Now()}, true
	case got != pid:
		return Exit{}, false
	}
	exit := Exit{Code: status.ExitStatus(), At: time.Now()}
	if status.Signaled() {
		exit.Signal = status.Signal()
		exit.Code = signalCode + int(exit.Signal)
	}
	return exit, true
}

// The exit codes that container runtimes use for what is no exit.
const (
	signalCode  = 128
	unknownCode = 255
)

// copyOutput writes the log until the output ends.
func (p *Process) copyOutput() {
	p.spec.Log.copyFrom(p.output)
	p.outputEnded()
}
