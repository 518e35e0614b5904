// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/system/clock"
)

// Defaults of the Options for health.
const (
	DefaultHealthInterval = 5 * time.Second
	DefaultHangTimeout    = 15 * time.Second
)

// stackTime is how long a hung process may take to write its stacks.
const stackTime = time.Second

// secondTimeout bounds a second question. It is asked because the first one may have timed out for a reason
// that is not the plugin's: piped itself was stopped for a while.
const secondTimeout = 2 * time.Second

// guard asks the process for its health until it ends, and ends it when it does not answer in time. An
// answer of any kind will do: PipeCD's plugins do not know the question, but only a live one can say so.
// Unwell is called when a plugin that knows it says that it does not serve, or serves again; slow when an answer is
// late, and when it is there.
func (p *process) guard(interval, timeout time.Duration, unwell func(bool), slow func()) {
	if timeout <= 0 {
		return
	}
	p.watch.running.Go(func() {
		said, counted := false, p.clock.Now()
		for {
			select {
			case <-p.ending.exited:
				return
			case <-p.clock.After(clock.Together(p.clock.Now(), interval)):
			case <-p.watch.suspect:
			}
			if p.ending.stopping.Load() {
				continue
			}
			kills, recount := uint64(0), p.clock.Now().Sub(counted) > recountAfter
			if recount {
				kills = kernelMemoryKills()
			}
			before := p.debugger.time()
			health := p.ask(timeout, func() {
				p.watch.late.Store(int64(timeout / lateShare))
				slow()
			})
			if recount && health == answer {
				counted = p.clock.Now()
				p.watch.memoryKills.Store(kills) // none of them was this one
			}
			if health == noConnection && p.endsWithin(closeNotice) {
				return
			}
			if health == noAnswer || health == noConnection {
				health = p.ask(min(timeout, secondTimeout), func() {})
			}
			if (health == answer || health == answerNotServing) && p.watch.late.Swap(0) != 0 {
				slow()
			}
			if notServing := health == answerNotServing; notServing != said && !p.ending.stopping.Load() {
				said = notServing
				unwell(said)
			}
			if healthy := health == answer || health == answerNotServing; healthy ||
				p.ending.stopping.Load() || p.ending.gone.Load() {
				continue
			}
			if p.seek() || p.debugger.time() > before {
				continue // it could not answer
			}
			if health == noConnection {
				p.abort("it has closed its connection to piped")
				return
			}
			p.abort(fmt.Sprintf("it did not answer a health check within %s%s%s", timeout, p.duringWork(),
				stoppedBySignal(p.command.Process.Pid)))
			return
		}
	})
}

// lateShare is the part of the time for an answer after which users see that it is late.
const lateShare = 3

// lateness says for users that the process does not answer, and what it works on; empty while it answers.
func (p *process) lateness() string {
	late := time.Duration(p.watch.late.Load())
	if late == 0 || p.ending.over() {
		return ""
	}
	return fmt.Sprintf("it has not answered a health check for more than %s%s", late, p.duringWork())
}

// maxWorkNamed bounds how many inputs a reason names.
const maxWorkNamed = 3

// duringWork names what the process works on, for the end of a reason; empty for nothing.
func (p *process) duringWork() string {
	var work []string
	for _, in := range p.inputs.running() {
		work = append(work, in.subject.String())
	}
	slices.Sort(work)
	work = slices.Compact(work)
	if more := len(work) - maxWorkNamed; more > 0 {
		work = append(work[:maxWorkNamed], fmt.Sprintf("%d more", more))
	}
	if len(work) == 0 {
		return ""
	}
	return ", while it worked on: " + strings.Join(work, ", ")
}

// health is what a question has shown.
type health int

const (
	answer health = iota
	answerNotServing
	noAnswer
	noConnection
)

// ask asks once, and calls slow once the answer is late. A process that ends meanwhile counts as one that answers: its
// end is reported elsewhere.
func (p *process) ask(timeout time.Duration, slow func()) health {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	asked := make(chan health, 1)
	go func() {
		var trailer metadata.MD
		response, err := grpc_health_v1.NewHealthClient(p.conn).Check(
			ctx, &grpc_health_v1.HealthCheckRequest{}, grpc.Trailer(&trailer),
		)
		p.noteGoroutines(trailer)
		switch {
		case status.Code(err) == codes.DeadlineExceeded:
			asked <- noAnswer
		case status.Code(err) == codes.Unavailable:
			asked <- noConnection
		case response.GetStatus() == grpc_health_v1.HealthCheckResponse_NOT_SERVING:
			asked <- answerNotServing
		default:
			asked <- answer
		}
	}()
	late := time.NewTimer(timeout / lateShare)
	defer late.Stop()
	for {
		select {
		case <-late.C:
			slow()
		case h := <-asked:
			select {
			case <-p.ending.exited:
				return answer
			default:
				return h
			}
		case <-p.ending.exited:
			cancel()
			<-asked
			return answer
		}
	}
}

// recountAfter is how old the count of the processes that the kernel has ended for want of memory may be: the kernel
// does not say which they were.
const recountAfter = 30 * time.Second

// closeNotice is how long the end of the connections of a process may precede its own.
const closeNotice = time.Second

func (p *process) endsWithin(d time.Duration) bool {
	select {
	case <-p.ending.exited:
		return true
	case <-p.clock.After(d):
		return false
	}
}

// abort ends a process that is of no use any more, with the reason that its callers get. A Go program
// writes the stacks of its goroutines first.
func (p *process) abort(reason string) { p.abortWithin(reason, stackTime) }

// abortWithin is abort with the time for the stacks.
func (p *process) abortWithin(reason string, patience time.Duration) {
	if p.ending.gone.Load() {
		return // its own end is the cause, and its number may belong to another process by now
	}
	p.ending.reason.Store(&reason)
	p.ending.stopping.Store(true)
	if p.attachment != nil {
		p.cut()
		return
	}
	p.out.quit()
	pid := p.command.Process.Pid
	_ = syscall.Kill(pid, syscall.SIGQUIT)
	_ = syscall.Kill(pid, syscall.SIGCONT)
	select {
	case <-p.ending.exited:
	case <-p.clock.After(patience):
		p.signalGroup(syscall.SIGKILL)
	}
}

// goroutinesTrailer is what plugins of our SDK report with their health; others need not.
const goroutinesTrailer = "pipedeck-goroutines"

func (p *process) noteGoroutines(trailer metadata.MD) {
	if values := trailer.Get(goroutinesTrailer); len(values) == 1 {
		if n, err := strconv.ParseUint(values[0], 10, 32); err == nil {
			p.watch.goroutines.Store(uint32(n))
		}
	}
}
