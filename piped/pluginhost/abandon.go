// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
)

// abandonTime is how long an abandoned process may take to write its stacks, before SIGKILL.
const abandonTime = 5 * time.Second

// Taken is the process that took a call. It belongs to one call; its methods are for after it, apart from Begun and
// Kill.
type Taken struct {
	ender ender
	proc  atomic.Pointer[process]
	begun chan struct{}
	begin func()
	// Taking gets the build of the process that takes the call, before the plugin is called; nil for no one.
	Taking func(*agentv1.PluginBuild)
}

// ender ends a process that goes on with a stage that was stopped.
type ender interface {
	abandon(proc *process, why string)
}

// NewTaken returns a Taken for one call.
func NewTaken() *Taken {
	begun := make(chan struct{})
	return &Taken{begun: begun, begin: sync.OnceFunc(func() { close(begun) })}
}

// Begun is closed when the plugin says that it has begun with the call. Only those of our SDK say so.
func (t *Taken) Begun() <-chan struct{} { return t.begun }

// TakenBy notes in t which process takes the call.
func TakenBy(t *Taken) grpc.CallOption { return takenBy{taken: t} }

type takenBy struct {
	grpc.EmptyCallOption
	taken *Taken
}

type takenKey struct{}

// noteTaken is called with the process that gets a call. The context is for the call.
func noteTaken(ctx context.Context, ender ender, proc *process, opts []grpc.CallOption) context.Context {
	for _, option := range opts {
		if o, ok := option.(takenBy); ok {
			o.taken.ender = ender
			o.taken.proc.Store(proc)
			if o.taken.Taking != nil {
				o.taken.Taking(proc.watch.build.Load())
			}
			ctx = context.WithValue(ctx, takenKey{}, o.taken)
		}
	}
	return ctx
}

// beginnings notes the headers of answers: our SDK sends them as it begins with a stage.
type beginnings struct{}

var _ stats.Handler = beginnings{}

func (beginnings) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (beginnings) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (beginnings) HandleConn(context.Context, stats.ConnStats)                       {}
func (beginnings) HandleRPC(ctx context.Context, event stats.RPCStats) {
	if _, headers := event.(*stats.InHeader); !headers {
		return
	}
	if t, ok := ctx.Value(takenKey{}).(*Taken); ok {
		t.begin()
	}
}

// Exited is closed at the end of the process. It is closed already when no process took the call.
func (t *Taken) Exited() <-chan struct{} {
	proc := t.proc.Load()
	if proc == nil {
		none := make(chan struct{})
		close(none)
		return none
	}
	return proc.ending.exited
}

// Held reports whether a debugger holds the process, or what it has started.
func (t *Taken) Held() bool {
	proc := t.proc.Load()
	return proc != nil && proc.seek()
}

// Kill ends the process with its process group, as a crash would, also while it has the call: a user wants this fault.
// Why is the reason that users see ("a fault is injected"). It does nothing when no process has taken the call.
func (t *Taken) Kill(why string) {
	if proc := t.proc.Load(); proc != nil {
		proc.ending.injected.Store(true)
		proc.ending.reason.Store(&why)
		proc.signalGroup(syscall.SIGKILL)
	}
}

// Abandon ends the process with all that it has started, because it goes on with a stage that was stopped. Why says so
// ("stage A went on for 15s after it was stopped"). It returns when the process is gone, with the lines of the stage's
// stack: those that our SDK names, or that the Go runtime of another plugin writes; none for other languages. The
// plugin is started again at once, and the end does not count as a crash.
func (t *Taken) Abandon(stageID, why string) []string {
	proc := t.proc.Load()
	if proc == nil {
		return nil
	}
	proc.ending.stage.CompareAndSwap(nil, &stageID)
	t.ender.abandon(proc, why)
	return stackOf(stageID, proc.out.written())
}

func (s *supervisor) abandon(proc *process, why string) {
	proc.ending.abandoning.Do(func() {
		select {
		case <-proc.ending.exited: // by itself; its number may be another's by now
			return
		default:
		}
		pid := proc.pid()
		s.logger.Warn("a plugin process is ended", "pid", pid, "reason", why)
		s.condition.setAbandoned( // an attached one is left instead, which is said with its end
			fmt.Sprintf("process %d was ended at %s: %s", pid, time.Now().Format(time.TimeOnly), why),
		)
		proc.ending.abandoned.Store(true)
		proc.abortWithin(why, abandonTime)
		<-proc.ending.exited
		proc.drained.Wait() // the stacks are in the output
		s.condition.changes.notify()
	})
	<-proc.ending.exited
}

// Bounds of the stacks of an abandoned process that are read, and of those that a stage log gets.
const (
	maxStackBytes = 4 << 20
	maxStackLines = 100
)

// stackLines are lines that a process writes at its end; there are no more of them than maxStackBytes.
type stackLines struct {
	lines []string
	bytes int
}

func (s *stackLines) see(line string) {
	if s.bytes += len(line); s.bytes <= maxStackBytes {
		s.lines = append(s.lines, line)
	}
}

// What our SDK writes around the stack of a stage.
const (
	stackBegin = "stack of stage "
	stackEnd   = "end of the stack of stage "
)

// stackOf picks the stack of a stage: the part that our SDK marks, else the goroutines that answer ExecuteStage.
func stackOf(stageID string, all stackLines) []string { return shortened(stageStack(stageID, all)) }

func stageStack(stageID string, all stackLines) []string {
	var stack []string
	inside := false
	for _, line := range all.lines {
		switch {
		case line == stackBegin+stageID+":":
			inside = true
		case line == stackEnd+stageID:
			return stack
		case inside:
			stack = append(stack, line)
		}
	}
	var goroutine []string
	for _, line := range append(slices.Clip(all.lines), "") { // several stages of one process read the lines
		if line != "" && !strings.HasPrefix(line, "goroutine ") {
			goroutine = append(goroutine, line)
			continue
		}
		if strings.Contains(strings.Join(goroutine, "\n"), ".ExecuteStage(") {
			stack = append(stack, goroutine...)
		}
		goroutine = nil
		if line != "" {
			goroutine = []string{line}
		}
	}
	return stack
}

func shortened(stack []string) []string {
	if more := len(stack) - maxStackLines; more > 0 {
		return append(stack[:maxStackLines:maxStackLines], fmt.Sprintf("… %d more lines", more))
	}
	return stack
}
