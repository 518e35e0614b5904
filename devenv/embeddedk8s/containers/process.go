// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Exit is how a container has ended.
type Exit struct {
	// Code is the exit code; 128 and the signal's number when a signal ended the process.
	Code   int
	Signal syscall.Signal // 0: the process ended by itself
	// OutOfMemory is set when a process of the container was ended because of the limit of its memory.
	OutOfMemory bool
	At          time.Time
}

// Process is one run of a container. Its methods may be called from any goroutine.
type Process struct {
	// PID is the number of the first process, and of the process group.
	PID       int
	StartedAt time.Time

	host   *Host
	spec   Spec
	output *os.File
	input  *input
	ended  chan struct{}

	mu      sync.Mutex
	exit    *Exit
	drained bool // all output is written
}

// Ended is closed when the process group is gone and its output is written.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Exit returns how the process has ended; ok is false before Ended is closed.
func (p *Process) Exit() (exit Exit, ok bool) {
	select {
	case <-p.ended:
	default:
		return Exit{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return *p.exit, true
}

// Terminate asks the container to end: its first process gets the signal, as in a container.
func (p *Process) Terminate(signal syscall.Signal) { p.signal(p.PID, signal) }

// Kill ends the process group at once.
func (p *Process) Kill() { p.signal(-p.PID, syscall.SIGKILL) }

// signal reaches only a process that was not collected yet, so that its number still is its own.
func (p *Process) signal(to int, signal syscall.Signal) {
	p.host.mu.Lock()
	defer p.host.mu.Unlock()
	if p.host.running[p.PID] == p {
		_ = syscall.Kill(to, signal)
	}
}

// Launch starts another program in the container, such as that of kubectl exec, which leads a process group. It is
// ended with the container where there are control groups, and after a kill of the Host in any case. The caller waits
// for it and calls forget then.
func (p *Process) Launch(command *exec.Cmd) (forget func(), err error) {
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	}
	endWithHost(command.SysProcAttr)
	if _, err := p.host.launch(p.spec.Group, func() *exec.Cmd { return command }); err != nil {
		return nil, err
	}
	pid := command.Process.Pid
	if p.host.records.write(pid, p.spec.Mark) != nil {
		return func() {}, nil
	}
	return func() { p.host.records.remove(pid) }, nil
}

func (p *Process) setExit(exit Exit) {
	p.mu.Lock()
	p.exit = &exit
	over := p.drained
	p.mu.Unlock()
	if over {
		p.finish()
	}
}

func (p *Process) outputEnded() {
	p.mu.Lock()
	p.drained = true
	over := p.exit != nil
	p.mu.Unlock()
	if over {
		p.finish()
	}
}

// finish gives everything back. It is called once: by the later one of the ends of the process and of its output.
func (p *Process) finish() {
	p.exit.OutOfMemory = p.spec.Group.exceeded(*p.exit)
	p.spec.Group.release()
	p.host.records.remove(p.PID)
	_ = p.output.Close()
	_ = p.input.close()
	_ = p.spec.Log.Close()
	close(p.ended)
	if p.spec.Ended != nil {
		p.spec.Ended()
	}
}
