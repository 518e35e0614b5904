// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/pipedeck/pipedeck/system/processtree"
)

// Limits bound the rendering of one chart; a zero stands for its default.
type Limits struct {
	// MemoryBytes bounds the memory of the process that renders. Default: 512 MiB.
	MemoryBytes uint64
	// OutputBytes bounds what the templates make. Default: 16 MiB.
	OutputBytes uint64
	// Timeout bounds the time. Default: 1 minute.
	Timeout time.Duration
}

const (
	defaultChildMemory  = 512 << 20
	defaultChildOutput  = 16 << 20
	defaultChildTimeout = time.Minute

	// parallelChildren bounds the processes that render at the same time.
	parallelChildren = 2
	// idleChild is how long a process stays for the next chart, since starting one takes longer than most charts.
	idleChild = 15 * time.Second
	// keptBytes is the memory above which a process does not stay.
	keptBytes = 128 << 20
	// maxComplaint bounds what is kept of the last words of a process, in bytes.
	maxComplaint = 16 << 10
)

// Children renders charts in processes of this program's own, which [ServeIfChild] has to serve. A process that needs
// more than the limits ends, and the chart is an error. It may be used by several goroutines; Close ends the processes.
type Children struct {
	limits Limits
	places chan struct{}

	mu     sync.Mutex
	idle   []*child
	living map[*child]bool
	closed bool
	// ended counts the processes that are not reaped yet.
	ended sync.WaitGroup
}

// NewChildren starts nothing yet.
func NewChildren(limits Limits) *Children {
	return &Children{
		limits: Limits{
			MemoryBytes: cmp.Or(limits.MemoryBytes, defaultChildMemory),
			OutputBytes: cmp.Or(limits.OutputBytes, defaultChildOutput),
			Timeout:     cmp.Or(limits.Timeout, defaultChildTimeout),
		},
		places: make(chan struct{}, parallelChildren),
		living: map[*child]bool{},
	}
}

// Close ends the processes, also those that render.
func (c *Children) Close() {
	c.mu.Lock()
	c.closed = true
	for one := range c.living {
		one.end()
	}
	for _, one := range c.idle {
		one.timer.Stop()
		one.drop()
	}
	c.idle = nil
	c.mu.Unlock()
	c.ended.Wait()
}

var errClosed = errors.New("the plugin is stopping")

// render runs a job in a process. The error names the limit that ended it.
func (c *Children) render(ctx context.Context, j *job) (map[string]string, error) {
	select {
	case c.places <- struct{}{}:
		defer func() { <-c.places }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	j.MemoryBytes, j.OutputBytes = c.limits.MemoryBytes, c.limits.OutputBytes
	late := &limitError{fmt.Sprintf("its templates took longer than %s, the limit for rendering a chart",
		c.limits.Timeout)}
	ctx, cancel := context.WithTimeoutCause(ctx, c.limits.Timeout, late)
	defer cancel()
	for {
		one, used, err := c.take()
		if err != nil {
			return nil, fmt.Errorf("start a process that renders charts: %w", err)
		}
		stop := context.AfterFunc(ctx, one.end)
		got, err := one.ask(j)
		if !stop() || err != nil || !c.give(one, got.UsedBytes) {
			one.drop()
		}
		switch {
		case err == nil && got.Error != "":
			return nil, &engineError{got.Error}
		case err == nil:
			return got.Files, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		}
		<-one.exited
		if !used || one.code() == exitOfMemory { // one that was kept may have been ended by anyone meanwhile
			return nil, one.describe(c.limits.MemoryBytes)
		}
	}
}

// limitError is a chart that needs more than a limit.
type limitError struct{ text string }

func (e *limitError) Error() string { return e.text }

// engineError is an error of the template engine.
type engineError struct{ text string }

func (e *engineError) Error() string { return e.text }

// take returns a process that waits, or starts one; used reports which.
func (c *Children) take() (one *child, used bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, false, errClosed
	}
	for len(c.idle) > 0 {
		one = c.idle[len(c.idle)-1]
		c.idle = c.idle[:len(c.idle)-1]
		if one.timer.Stop() {
			return one, true, nil
		}
	}
	if one, err = startChild(); err != nil {
		return nil, false, err
	}
	c.living[one] = true
	c.ended.Go(func() {
		one.reap()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.living, one)
	})
	return one, false, nil
}

// give keeps a process for a while. It reports false when the process shall not stay.
func (c *Children) give(one *child, usedBytes uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || usedBytes > keptBytes {
		return false
	}
	one.timer = time.AfterFunc(idleChild, one.drop)
	c.idle = append(c.idle, one)
	return true
}

// child is one process.
type child struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *os.File
	decoder *cbor.Decoder
	said    *processtree.Output
	timer   *time.Timer
	// exited is closed when the process is reaped.
	exited chan struct{}
}

// startChild starts a process that reap has to reap.
func startChild() (*child, error) {
	program, err := childProgram()
	if err != nil {
		return nil, err
	}
	one := &child{said: processtree.NewOutput(maxComplaint), exited: make(chan struct{})}
	one.command = exec.Command(program, childArgument) //nolint:gosec,noctx // this program itself; render ends it
	one.command.Env = []string{"GOTRACEBACK=none"}     // templates see nothing of the plugin's environment
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
func (c *child) reap() {
	defer close(c.exited)
	_ = c.command.Wait()
}

// end ends the process whatever it does.
func (c *child) end() { _ = c.command.Process.Kill() }

// drop ends the process and closes its output, which no one reads then.
func (c *child) drop() {
	c.end()
	_ = c.out.Close()
}

func (c *child) ask(j *job) (*answer, error) {
	// One write: a job is not read in pieces, so that a process that has ended is seen here.
	var data bytes.Buffer
	if err := cbor.NewEncoder(&data).Encode(j); err != nil {
		return nil, err
	}
	if _, err := c.in.Write(data.Bytes()); err != nil {
		return nil, err
	}
	got := &answer{}
	return got, c.decoder.Decode(got)
}

// code is the exit code of a process that has ended.
func (c *child) code() int { return c.command.ProcessState.ExitCode() }

// describe says why a process has ended in the middle of a chart.
func (c *child) describe(memory uint64) error {
	said := c.said.String()
	switch {
	case c.code() == exitOfMemory, strings.Contains(said, "out of memory"),
		strings.Contains(said, "cannot allocate memory"):
		return &limitError{fmt.Sprintf("its templates needed more than %d MiB of memory, the limit for rendering "+
			"a chart", memory>>20)}
	case strings.Contains(said, "stack overflow"), strings.Contains(said, "stack exceeds"):
		return &limitError{"its templates call each other without an end"}
	}
	last, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	return fmt.Errorf("the process that renders its templates ended: %s",
		strings.TrimSuffix(c.command.ProcessState.String()+": "+last, ": "))
}
