// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pipedeck/pipedeck/system/owned"
)

// Spec says what to run.
type Spec struct {
	// Name is shown in errors.
	Name string
	Path string
	Args []string
	// Dir is the working directory; empty for that of this process.
	Dir string
	// Env is added to the environment of this process.
	Env []string
	// LogFile receives both outputs; empty for none. It is appended to, has mode 0600 and is bounded: see owned.Log.
	LogFile string
	// Files are further files of the child: the first has number 3. This process may close its own afterwards.
	Files []*os.File
	// Line is called with every line of standard output, without its end; may be nil.
	Line func(line string)
}

// Process is a running child.
type Process struct {
	name string
	cmd  *exec.Cmd
	tail *tail
	// stdin is held open: its end shows the child that this process is gone.
	stdin io.Closer
	done  chan struct{}
	err   error
}

// Start starts a child. It ends only by itself, by Stop, or with this process.
func Start(spec Spec) (*Process, error) {
	log, err := openLog(spec.LogFile)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", spec.Name, err)
	}
	p := &Process{name: spec.Name, cmd: exec.Command(spec.Path, spec.Args...), tail: &tail{}, done: make(chan struct{})}
	p.cmd.Dir = spec.Dir
	p.cmd.Env = append(os.Environ(), spec.Env...)
	p.cmd.SysProcAttr = attributes()
	p.cmd.ExtraFiles = spec.Files
	out, err := newOutput(p.cmd)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make pipes for the output of %s: %w", spec.Name, err), log.Close())
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, errors.Join(err, out.close(), log.Close())
	}
	started := make(chan error, 1)
	go p.own(started, out, log, spec.Line)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	return p, nil
}

// openLog opens what both outputs are written to.
func openLog(path string) (io.WriteCloser, error) {
	if path == "" {
		return discard{io.Discard}, nil
	}
	return owned.OpenLog(path, owned.MaxLog)
}

type discard struct{ io.Writer }

func (discard) Close() error { return nil }

// own starts the child and waits for it on one thread: on Linux a child gets its parent-death
// signal when the thread that started it ends, not the process.
func (p *Process) own(started chan<- error, out *output, log io.WriteCloser, line func(string)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.done)
	defer log.Close()
	defer out.close()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	var read sync.WaitGroup
	out.started()
	read.Go(func() { copyLines(lossy{log}, out.stdout, line) })
	read.Go(func() { _, _ = io.Copy(io.MultiWriter(lossy{log}, p.tail), out.stderr) })
	p.err = p.cmd.Wait()
	// What the child started may have outlived it, and holds its output open: PipeCD's piped leaves
	// plugins behind when it dies.
	_ = syscall.Kill(-p.PID(), syscall.SIGKILL)
	out.ended()
	read.Wait()
}

// lossy drops what cannot be written, on a full disk for one: a child whose output is not read any more blocks.
type lossy struct{ io.Writer }

func (l lossy) Write(p []byte) (int, error) {
	_, _ = l.Writer.Write(p)
	return len(p), nil
}

// copyLines copies everything to log and calls line for each line.
func copyLines(log io.Writer, stdout io.Reader, line func(string)) {
	scanner := bufio.NewScanner(stdout)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		fmt.Fprintln(log, scanner.Text())
		if line != nil {
			line(scanner.Text())
		}
	}
	// A line that is too long ends the scan; the rest must still be read, or the child blocks.
	_, _ = io.Copy(log, stdout)
}

// PID is the process id, which is also the id of the process group.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the child has ended, its process group is gone and all of its output was read.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the child ended, with its last lines of standard error. Valid after Done.
func (p *Process) Err() error {
	if last := p.tail.String(); last != "" {
		return fmt.Errorf("%s; its last lines:\n%s", p.howEnded(), last)
	}
	return errors.New(p.howEnded())
}

// Summary is Err in one line: how the child ended, and unless a signal ended it the line of standard error that says
// why, which is that of a panic or the last one. Valid after Done.
func (p *Process) Summary() string {
	if why := p.tail.reason(); why != "" && p.ExitCode() >= 0 {
		return p.howEnded() + ": " + why
	}
	return p.howEnded()
}

func (p *Process) howEnded() string {
	if p.err == nil {
		return p.name + " exited with code 0"
	}
	return p.name + " " + strings.Replace(p.err.Error(), "exit status", "exited with code", 1)
}

// ExitCode is the exit code, or -1 when a signal ended the child. Valid after Done.
func (p *Process) ExitCode() int { return p.cmd.ProcessState.ExitCode() }

// Stop asks the child to end and kills its process group when it has not after grace, or when ctx
// ends. It returns when the child is gone.
func (p *Process) Stop(ctx context.Context, grace time.Duration) {
	select {
	case <-p.done:
		return
	default:
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
	case <-ctx.Done():
	}
	_ = syscall.Kill(-p.PID(), syscall.SIGKILL)
	<-p.done
	_ = p.stdin.Close()
}

// tail keeps the last lines written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
	// cut says that the first line lacks its beginning.
	cut bool
}

// tailBytes is enough for a Go panic's first frames and little enough for an error message.
const tailBytes = 2 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, b...)
	if over := len(t.data) - tailBytes; over > 0 {
		t.cut = t.data[over-1] != '\n'
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(b), nil
}

// String returns whole lines, unless one line fills it all. Of a line that rewrites itself with carriage returns it
// returns the last state.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.data)), "\n")
	if t.cut && len(lines) > 1 {
		lines = lines[1:]
	}
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		lines[i] = line[strings.LastIndexByte(line, '\r')+1:]
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// reason returns the line of a panic, or the last line.
func (t *tail) reason() string {
	lines := strings.Split(t.String(), "\n")
	for _, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}
