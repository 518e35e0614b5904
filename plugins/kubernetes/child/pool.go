// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/pipedeck/pipedeck/system/processtree"
)

// Limits bound one job; a zero stands for its default.
type Limits struct {
	// MemoryBytes bounds the memory of the process that works. Default: 512 MiB.
	MemoryBytes uint64
	// Timeout bounds the time. Default: 1 minute.
	Timeout time.Duration
}

const (
	defaultMemory  = 512 << 20
	defaultTimeout = time.Minute

	// parallel bounds the processes of a pool that work at the same time.
	parallel = 2
	// idleTime is how long a process stays for the next job, since starting one takes longer than most jobs.
	idleTime = 15 * time.Second
	// keptBytes is the memory above which a process does not stay.
	keptBytes = 128 << 20
	// maxComplaint bounds what is kept of the last words of a process, in bytes.
	maxComplaint = 16 << 10
)

// Pool does jobs in processes of this program, which [Serve] has to serve. It may be used by several goroutines; Close
// ends the processes.
type Pool[Job, Answer any] struct {
	argument string
	limits   Limits
	places   chan struct{}

	mu     sync.Mutex
	idle   []*process
	living map[*process]bool
	closed bool
	// ended counts the processes that are not reaped yet.
	ended sync.WaitGroup
}

// New starts nothing yet. argument is that of Serve.
func New[Job, Answer any](argument string, limits Limits) *Pool[Job, Answer] {
	return &Pool[Job, Answer]{
		argument: argument,
		limits: Limits{
			MemoryBytes: cmp.Or(limits.MemoryBytes, defaultMemory), Timeout: cmp.Or(limits.Timeout, defaultTimeout),
		},
		places: make(chan struct{}, parallel),
		living: map[*process]bool{},
	}
}

// Close ends the processes, also those that work.
func (p *Pool[Job, Answer]) Close() {
	p.mu.Lock()
	p.closed = true
	for one := range p.living {
		one.end()
	}
	for _, one := range p.idle {
		one.timer.Stop()
		one.drop()
	}
	p.idle = nil
	p.mu.Unlock()
	p.ended.Wait()
}

var errClosed = errors.New("the plugin is stopping")

// Limit is what a job has reached.
type Limit string

// The limits of a job.
const (
	Time   Limit = "time"
	Memory Limit = "memory"
	Stack  Limit = "stack"
)

// LimitError is a job that needs more than a limit.
type LimitError struct {
	Limit Limit
	// MemoryBytes and Timeout are those of the pool.
	Limits
}

func (e *LimitError) Error() string {
	switch e.Limit {
	case Time:
		return fmt.Sprintf("it took longer than %s", e.Timeout)
	case Memory:
		return fmt.Sprintf("it needed more than %d MiB of memory", e.MemoryBytes>>20)
	}
	return "its calls do not end"
}

// EndedError is a process that has ended in the middle of a job.
type EndedError struct{ Text string }

func (e *EndedError) Error() string { return "its process ended: " + e.Text }

// Word is what a job says while it runs.
type Word struct{ data cbor.RawMessage }

// Read decodes the word.
func (w Word) Read(into any) error { return decode(w.data, into) }

// Listener hears the words of a job, one after another, and returns the reply to those that ask.
type Listener func(ctx context.Context, word Word) (reply any, err error)

// Do does a job in a process. listen hears its words; nil for a job that says nothing. The error is a LimitError, an
// EndedError, that of listen, or why there is no process.
func (p *Pool[Job, Answer]) Do(ctx context.Context, job *Job, listen Listener) (*Answer, error) {
	select {
	case p.places <- struct{}{}:
		defer func() { <-p.places }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.limits.Timeout, &LimitError{Limit: Time, Limits: p.limits})
	defer cancel()
	for {
		one, used, err := p.take()
		if err != nil {
			return nil, fmt.Errorf("start a process: %w", err)
		}
		stop := context.AfterFunc(ctx, one.end)
		got, err := run[Job, Answer](ctx, one, &order[Job]{Job: job, MemoryBytes: p.limits.MemoryBytes}, listen)
		if !stop() || err != nil || !p.give(one, got.UsedBytes) {
			one.drop()
		}
		switch {
		case err == nil:
			return got.Answer, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.As(err, new(*listenError)):
			return nil, errors.Unwrap(err)
		}
		<-one.exited
		if !used || one.code() == exitOfMemory { // one that was kept may have been ended by anyone meanwhile
			return nil, one.describe(p.limits)
		}
	}
}

// take returns a process that waits, or starts one; used reports which.
func (p *Pool[Job, Answer]) take() (one *process, used bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false, errClosed
	}
	for len(p.idle) > 0 {
		one = p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if one.timer.Stop() {
			return one, true, nil
		}
	}
	if one, err = start(p.argument); err != nil {
		return nil, false, err
	}
	p.living[one] = true
	p.ended.Go(func() {
		one.reap()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.living, one)
	})
	return one, false, nil
}

// give keeps a process for a while. It reports false when the process shall not stay.
func (p *Pool[Job, Answer]) give(one *process, usedBytes uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || usedBytes > keptBytes {
		return false
	}
	one.timer = time.AfterFunc(idleTime, one.drop)
	p.idle = append(p.idle, one)
	return true
}

// process is a process that works.
type process struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *os.File
	decoder *cbor.Decoder
	said    *processtree.Output
	timer   *time.Timer
	// exited is closed when the process is reaped.
	exited chan struct{}
}

// start starts a process that reap has to reap.
func start(argument string) (*process, error) {
	program, err := ownProgram()
	if err != nil {
		return nil, err
	}
	one := &process{said: processtree.NewOutput(maxComplaint), exited: make(chan struct{})}
	one.command = exec.Command(program, argument)  //nolint:gosec,noctx // this program itself; Do ends it
	one.command.Env = []string{"GOTRACEBACK=none"} // jobs see nothing of the plugin's environment
	one.command.Stderr = one.said
	if one.in, err = one.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, in, err := os.Pipe() // Wait would close a pipe of exec's before all is read
	if err != nil {
		return nil, err
	}
	one.out, one.command.Stdout = out, in
	if one.decoder, err = newDecoder(out); err == nil {
		err = one.command.Start()
	}
	if closing := in.Close(); err != nil {
		return nil, errors.Join(err, closing, out.Close(), one.in.Close())
	}
	return one, nil
}

// reap waits for the end of the process.
func (p *process) reap() {
	defer close(p.exited)
	_ = p.command.Wait()
}

// end ends the process whatever it does.
func (p *process) end() { _ = p.command.Process.Kill() }

// drop ends the process and closes its output, which no one reads then.
func (p *process) drop() {
	p.end()
	_ = p.out.Close()
}

// listenError is one of the listener.
type listenError struct{ error }

func (e *listenError) Unwrap() error { return e.error }

// run runs a job in a process until its answer.
func run[Job, Answer any](ctx context.Context, p *process, first *order[Job],
	listen Listener) (*message[Answer], error) {
	if err := p.send(first); err != nil {
		return nil, err
	}
	for {
		said := &message[Answer]{}
		if err := p.decoder.Decode(said); err != nil {
			return nil, err
		}
		if said.Answer != nil {
			return said, nil
		}
		if listen == nil {
			return nil, &listenError{errors.New("no one listens to what the job says")}
		}
		reply, err := listen(ctx, Word{said.Word})
		if err != nil {
			return nil, &listenError{err}
		}
		if !said.Asks {
			continue
		}
		data, err := cbor.Marshal(reply)
		if err != nil {
			return nil, &listenError{err}
		}
		if err := p.send(&order[Job]{Reply: data}); err != nil {
			return nil, err
		}
	}
}

// send writes at once: an order is not read in pieces, so that a process that has ended is seen here.
func (p *process) send(order any) error {
	var data bytes.Buffer
	if err := cbor.NewEncoder(&data).Encode(order); err != nil {
		return err
	}
	_, err := p.in.Write(data.Bytes())
	return err
}

// code is the exit code of a process that has ended.
func (p *process) code() int { return p.command.ProcessState.ExitCode() }

// noMemory are the last words of processes that the system refuses memory, for a stack of a thread, too. Go's runtime
// itself faults when it does not get what it had reserved; no template does that to it.
var noMemory = []string{"out of memory", "cannot allocate memory", "pthread_create failed", "create new OS thread",
	"unexpected signal during runtime execution"}

// describe says why a process has ended in the middle of a job.
func (p *process) describe(limits Limits) error {
	said := p.said.String()
	switch {
	case p.code() == exitOfMemory, slices.ContainsFunc(noMemory, func(words string) bool {
		return strings.Contains(said, words)
	}):
		return &LimitError{Limit: Memory, Limits: limits}
	case strings.Contains(said, "stack overflow"), strings.Contains(said, "stack exceeds"):
		return &LimitError{Limit: Stack, Limits: limits}
	}
	last, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	return &EndedError{Text: strings.TrimSuffix(p.command.ProcessState.String()+": "+last, ": ")}
}
