// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/system/plainerror"
)

// condition is what a plugin is doing now, and which process answers its calls. Every change is announced.
type condition struct {
	plugin  string
	changes *broadcast

	mu      sync.Mutex
	state   agentv1.Plugin_State
	detail  string
	problem problem // why it does not work as it should; zero when it does
	remarks
	settled bool // the outcome of the first start is known
	// fetching is set while the binary may be on its way from another machine.
	fetching bool
	starts   starts
	exits    exits
	able     abilities
	process  *process // set while one exists
	ready    bool     // process answers
	leaving  []string // replaced processes that have calls, as "pid 5"
	usage    usage
}

func newCondition(plugin string, changes *broadcast) *condition {
	return &condition{plugin: plugin, changes: changes, state: agentv1.Plugin_STATE_STARTING}
}

// change makes one change and announces it.
func (c *condition) change(change func()) {
	c.mu.Lock()
	change()
	c.mu.Unlock()
	c.changes.notify()
}

// set changes the state of a plugin that works; a first start that was decided is remembered.
func (c *condition) set(state agentv1.Plugin_State, detail string) { c.fail(state, detail, problem{}) }

// fail is set for a plugin that has a problem. Users read both texts.
func (c *condition) fail(state agentv1.Plugin_State, detail string, why problem) {
	detail, why.reason = plainerror.Clean(detail), plainerror.Clean(why.reason)
	c.change(func() {
		c.state, c.detail, c.problem = state, detail, why
		if state == agentv1.Plugin_STATE_FAILED || state == agentv1.Plugin_STATE_STOPPED {
			c.settled = true
		}
	})
}

func (c *condition) began(proc *process) {
	c.change(func() {
		c.process, c.ready = proc, false
		c.starts.add(proc)
	})
}

// maxRestarts bounds the times of restarts that are kept.
const maxRestarts = 20

// starts counts the processes of a plugin.
type starts struct {
	count int
	// returns is set when the next start takes the place of an attached process: it is no restart.
	returns bool
	// reloads are those that took the place of a process that ran.
	reloads int
	// again is when the last of them began that were not the first.
	again []time.Time
}

func (s *starts) add(proc *process) {
	if s.returns {
		s.returns = false
		return
	}
	s.count++
	if s.count > 1 {
		s.again = append(s.again, proc.started)
		s.again = s.again[max(0, len(s.again)-maxRestarts):]
	}
}

// binary is the path of its program; "" before it was started.
func (p *process) binary() string {
	if p.command == nil {
		return ""
	}
	return p.command.Path
}

// serving makes a process the one that new calls go to.
func (c *condition) serving(proc *process, able abilities) {
	c.change(func() {
		if c.process != proc { // it replaces another one
			c.process = proc
			if proc.attachment == nil {
				c.starts.add(proc)
				c.starts.reloads++
			}
		}
		c.usage = usage{} // what it took in its start says little
		c.ready, c.able, c.settled = true, able, true
		c.state, c.detail, c.problem = agentv1.Plugin_STATE_RUNNING, "", problem{}
	})
}

// changedDoesNotStart begins the detail of a plugin that goes on although its program was changed.
const changedDoesNotStart = "its changed program does not start, the one before it goes on"

// keepsOld reports whether the process goes on because its changed program does not start. The caller holds c.mu.
func (c *condition) keepsOld() bool {
	return c.state == agentv1.Plugin_STATE_RUNNING && c.problem.refused
}

// keeps withdraws what was said of a changed program: the file holds the program that runs again.
func (c *condition) keeps(proc *process) {
	c.change(func() {
		if c.process == proc && c.keepsOld() {
			c.detail, c.problem = "", problem{}
		}
	})
}

// unwell shows what a plugin reports about its health; only an author knows what follows from it.
func (c *condition) unwell(proc *process, unwell bool) {
	c.change(func() {
		if c.process != proc || c.state != agentv1.Plugin_STATE_RUNNING {
			return
		}
		c.detail, c.problem = "", problem{}
		if unwell {
			c.detail = "its health answer is that it does not serve"
			c.problem = problem{reason: c.detail, nextStep: readOutput(c.plugin)}
		}
	})
}

// ended forgets a process that is gone. The next state is announced with what follows.
func (c *condition) ended(proc *process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.process, c.ready, c.usage = nil, false, usage{}
	if c.state == agentv1.Plugin_STATE_RUNNING {
		exit := proc.ending.exit
		if exit.Detached != "" {
			c.starts.returns = c.starts.count > 0
			return // it is no problem of the plugin
		}
		c.state, c.detail, c.problem = agentv1.Plugin_STATE_RESTARTING, exit.Error(), restarting(c.plugin, exit)
	}
}

func (c *condition) setLeaving(change func([]string) []string) {
	c.change(func() { c.leaving = change(c.leaving) })
}

// setFetching notifies those who wait for the plugin that it may take long.
func (c *condition) setFetching(fetching bool) { c.change(func() { c.fetching = fetching }) }

// downloading shows how far the download for a first start is.
func (c *condition) downloading(done, total int64) {
	c.mu.Lock()
	starting := c.state == agentv1.Plugin_STATE_STARTING
	if starting {
		c.detail = downloadDetail(done, total)
	}
	c.mu.Unlock()
	if starting {
		c.changes.notify()
	}
}

// attached reports whether a process answers that piped has not started.
func (c *condition) attached() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ready && c.process.attachment != nil
}

func (c *condition) now() agentv1.Plugin_State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

func (c *condition) abilities() abilities {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.able
}

func (c *condition) hasSettled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settled
}

// starting reports whether the plugin is in its first start and its binary is here.
func (c *condition) starting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.settled && !c.fetching
}

// await returns when the plugin answers.
func (c *condition) await(ctx context.Context) error {
	for {
		changed := c.changes.next()
		err := c.check()
		if err == nil {
			return nil
		}
		if state := c.now(); state == agentv1.Plugin_STATE_FAILED || state == agentv1.Plugin_STATE_STOPPED {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return err
		}
	}
}

// check returns a NotRunningError unless the plugin answers calls.
func (c *condition) check() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.answeringLocked()
	return err
}

// answeringLocked is the process that answers calls, or a NotRunningError.
func (c *condition) answeringLocked() (*process, error) {
	if c.ready && !c.process.ending.over() {
		return c.process, nil
	}
	words := map[agentv1.Plugin_State]string{
		agentv1.Plugin_STATE_STARTING:   "is starting",
		agentv1.Plugin_STATE_RUNNING:    "has just ended",
		agentv1.Plugin_STATE_RESTARTING: "is being started again",
		agentv1.Plugin_STATE_FAILED:     "has failed",
		agentv1.Plugin_STATE_STOPPED:    "is stopped",
	}
	return nil, &NotRunningError{Plugin: c.plugin, State: words[c.state], Detail: c.detail}
}

// hold is answering for a call: the process is not stopped for another one before done is called.
func (c *condition) hold(method string, opts []grpc.CallOption) (_ *process, done func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	proc, err := c.answeringLocked()
	if err == nil {
		err = enough(c.plugin, c.able.sources, opts)
	}
	if err != nil || !outlasts(method) {
		return proc, func() {}, err
	}
	proc.calls.Add(1)
	return proc, proc.calls.Done, nil
}

// hasAnswered reports whether there is a process that answers.
func (c *condition) hasAnswered() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ready
}

// status fills in what the condition knows.
func (c *condition) status(s *agentv1.Plugin) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.State, s.Detail = c.state, c.detail
	s.ChangedBinaryFails = c.keepsOld()
	s.Restarts, s.Reloads = int32(max(0, c.starts.count-1)), int32(c.starts.reloads)
	for _, at := range c.starts.again {
		s.RestartedAt = append(s.RestartedAt, timestamppb.New(at))
	}
	s.Crashes, s.InjectedEnds, s.AbandonedEnds = c.exits.count, c.exits.injected, c.exits.abandoned
	s.Exits = slices.Clone(c.exits.last)
	s.RssBytes, s.CpuPercent, s.OpenFiles, s.Threads = c.usage.rss, c.usage.cpu, c.usage.files, c.usage.threads
	s.Stages, s.TakesClusterFaults = slices.Clone(c.able.stages), c.able.sources.GetClusterFaults()
	if c.process != nil {
		var held string
		held, s.Held = c.process.debugger.detail()
		s.Detail = cmp.Or(held, c.process.lateness(), s.Detail)
	}
	if s.Detail == "" && c.state == agentv1.Plugin_STATE_RUNNING {
		s.Detail = c.runningDetail()
	}
	if c.process != nil {
		s.Pid = int32(c.process.pid())
		s.StartedAt = timestamppb.New(c.process.started)
		s.Binary, s.Build = c.process.binary(), c.process.watch.build.Load()
		s.Version = s.GetBuild().GetVersion()
		s.Linked = c.process.link != nil
		if a := c.process.attachment; a != nil {
			s.Attached = a.target.Address
		}
		s.Goroutines = c.process.watch.goroutines.Load()
	}
}

func (c *condition) currentProblem(now time.Time) problem {
	c.mu.Lock()
	defer c.mu.Unlock()
	slow := c.state == agentv1.Plugin_STATE_STARTING && c.process != nil &&
		now.Sub(c.process.started)-c.process.debugger.time() > slowStart
	if c.problem == (problem{}) && slow {
		return problem{
			reason: fmt.Sprintf(
				"its process (pid %d) does not answer %s after its start", c.process.pid(), slowStart,
			),
			nextStep: readOutput(c.plugin),
		}
	}
	if c.problem == (problem{}) && c.process != nil {
		late := c.process.lateness()
		if _, held := c.process.debugger.detail(); late != "" && !held {
			return problem{reason: late, nextStep: "have the plugin answer while it works, such as by a thread or a " +
				"process for the work: piped ends a plugin that does not answer"}
		}
	}
	if c.problem == (problem{}) && c.awaited != "" && c.detached != "" {
		// piped waits for the author's process all the same.
		return problem{reason: c.detached, nextStep: attachAgain(c.plugin)}
	}
	return c.problem
}

// sample measures the present process.
func (c *condition) sample() {
	c.mu.Lock()
	proc, before := c.process, c.usage
	c.mu.Unlock()
	// Reports follow changes, of which there may be many at once; measuring a process costs some file reads.
	if proc == nil || proc.pid() == 0 || before.pid == int32(proc.pid()) && time.Since(before.at) < shortestInterval {
		return
	}
	now, ok := measure(int32(proc.pid()), before)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == proc {
		c.usage = now
	}
}

func (c *condition) sourceUse() *deployment.GetSourceUseResponse { return c.abilities().sources }
