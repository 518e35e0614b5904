// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
)

const (
	crashWindow     = time.Minute
	crashLimit      = 5              // within crashWindow; then only a user's word or a changed binary starts the plugin again
	blamedLimit     = 4 * crashLimit // the same for ends during calls, which are counted against their inputs first
	blamedDoublings = 4              // of the pause after such an end
	maxRestartPause = 10 * time.Second
	startGrace      = 3 * time.Second // for a process that never answered
	fetchDoublings  = 8               // of the pause before a plugin that could not be fetched is tried again
)

// run starts the plugin and starts it again after each end, until ctx ends.
func (p *Plugin) run(ctx context.Context, lifeline *os.File) {
	defer p.output.close()
	defer p.retired.Wait()
	for {
		err := p.live(ctx, lifeline)
		if ctx.Err() != nil {
			p.set(agentv1.Plugin_STATE_STOPPED, "piped is stopping")
			return
		}
		var exit *ExitError
		if errors.As(err, &exit) && exit.Abandoned {
			continue // it is no crash, and the next process is shown with the reason
		}
		p.forgetAbandoned()
		if errors.Is(err, errRestart) || errors.Is(err, errRenewed) {
			p.forgetCrashes()
			p.pardon()
			continue
		}
		select {
		case <-p.afterCrash(err):
		case <-p.restart:
			p.forgetCrashes()
			p.pardon()
		case <-p.renewed:
			p.forgetCrashes()
		case <-ctx.Done():
		}
	}
}

var (
	// errRestart ends a process because a user asked for a new one.
	errRestart = errors.New("restart requested")
	// errRenewed ends a process in its start because its binary has changed.
	errRenewed = errors.New("the binary has changed")
)

// permanentError is one that another start cannot mend.
type permanentError struct{ error }

func (e permanentError) Unwrap() error { return e.error }

// live starts a process and goes on with those that replace it. It returns why the last one ended.
func (p *Plugin) live(ctx context.Context, lifeline *os.File) error {
	if ctx.Err() != nil {
		return errStopped
	}
	p.set(agentv1.Plugin_STATE_STARTING, "")
	proc, err := p.first(ctx, lifeline)
	for err == nil {
		var next *process
		next, err = p.keep(ctx, lifeline, proc)
		switch {
		case next == nil:
			p.ended(proc)
		default:
			p.retire(ctx, proc)
			proc = next
		}
	}
	return err
}

// first starts a process that replaces none, and waits until it answers.
func (p *Plugin) first(ctx context.Context, lifeline *os.File) (*process, error) {
	if err := p.endLeft(); err != nil {
		return nil, err
	}
	drain(p.renewed) // what is there now is taken
	program, _ := identify(p.program())
	b, err := p.fetchBinary(ctx)
	if err != nil {
		return nil, permanentError{err}
	}
	proc, err := p.launch(b, p.config.Port, lifeline)
	if err != nil {
		return nil, err
	}
	p.began(proc)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ready := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for ctx.Err() == nil {
			select {
			case <-p.restart:
				cancel(errRestart)
			case <-p.renewed:
				if now, err := p.fetchBinary(ctx); err == nil && now.path != b.path {
					cancel(errRenewed)
				}
			case <-ready:
				return
			}
		}
	}()
	able, err := p.awaitReady(ctx, proc)
	close(ready)
	<-watched
	if p.options.Started != nil && !errors.Is(context.Cause(ctx), context.Canceled) { // which is piped's own end
		p.options.Started(p.config.Name, proc.started, err)
	}
	if err != nil {
		proc.stop(min(p.options.GracePeriod, startGrace)) // it has no work to finish
		p.ended(proc)
		return nil, err
	}
	p.serving(proc, able)
	p.noteExamined(program, nil)
	return proc, nil
}

// keep is the time in which a process answers all calls. It returns the one that replaces it, or why there
// is none; then the process is gone.
func (p *Plugin) keep(ctx context.Context, lifeline *os.File, proc *process) (*process, error) {
	preparing, abandon := context.WithCancelCause(ctx)
	var coming chan successor
	defer func() {
		abandon(errAbandoned)
		if coming != nil {
			if s := <-coming; s.proc != nil {
				p.discard(s.proc)
			}
		}
	}()
	for {
		renewed := p.renewed
		if coming != nil {
			renewed = nil // one after the other
		}
		select {
		case <-proc.exited:
			return nil, proc.exit
		case <-p.restart:
			proc.stop(p.options.GracePeriod)
			return nil, errRestart
		case <-ctx.Done():
			proc.stop(p.options.GracePeriod)
			return nil, errStopped
		case <-renewed:
			coming = make(chan successor, 1)
			go func(result chan<- successor) { result <- p.succeed(preparing, lifeline, proc) }(coming)
		case s := <-coming:
			coming = nil
			switch {
			case s.err != nil:
				p.logger.Warn("a changed plugin does not start; the one before it goes on", "error", s.err)
				reason := fmt.Sprintf("%s: %s", changedDoesNotStart, s.err)
				p.fail(agentv1.Plugin_STATE_RUNNING, reason, problem{reason: reason, nextStep: "fix the binary: it is started as soon as it changes"})
			case s.proc != nil:
				p.serving(s.proc, s.abilities)
				p.noteExamined(s.program, nil)
				return s.proc, nil
			default:
				p.keeps(proc)
			}
			p.noteExamined(s.program, s.err)
		}
	}
}

// launch starts a process of a binary and connects to it, over a link when it can use one.
func (p *Plugin) launch(b binary, port int, lifeline *os.File) (_ *process, err error) {
	var private *link
	if b.linked && p.options.Service != nil {
		private, err = newLink()
		port = 0
	} else {
		port, err = choosePort(p.config.Name, port)
	}
	if err != nil {
		return nil, err
	}
	tree := p.newTree()
	proc, err := launch(start{
		binary: b.path, config: p.config, port: port, serviceAddress: p.options.ServiceAddress, lifeline: lifeline,
		link: private, tree: tree, room: p.confine(tree),
		ended: func(proc *process) { proc.exit.blamed = p.blame(proc) },
	}, p.output)
	if err != nil {
		if private != nil {
			private.close()
		}
		return nil, permanentError{err}
	}
	proc.release = p.connect(proc)
	if proc.conn, err = dial(proc, p.options.StartTimeout, p.options.Calls); err != nil {
		proc.stop(0)
		proc.close()
		return nil, permanentError{fmt.Errorf("connect to plugin %q: %w", p.Name(), err)}
	}
	p.logger.Debug("plugin process started", "pid", proc.command.Process.Pid, "port", port, "link", private != nil)
	return proc, nil
}

// afterCrash notes the end and tells when to start again: nil means only when asked.
func (p *Plugin) afterCrash(err error) <-chan time.Time {
	var exit *ExitError
	blamed := errors.As(err, &exit) && exit.blamed
	count, quarantined := p.countCrash(blamed)

	var permanent permanentError
	switch {
	case fetch.Passing(err):
		pause := p.restartPause(min(count, fetchDoublings))
		p.fail(agentv1.Plugin_STATE_FAILED, fmt.Sprintf("%s; piped tries it again", err), problem{
			reason: err.Error(), nextStep: "check the plugin's url and the network; piped tries it again",
		})
		p.logger.Warn("plugin cannot be fetched and is tried again", "error", err, "pause", pause.Round(time.Millisecond))
		return time.After(pause)
	case errors.As(err, &permanent):
		p.fail(agentv1.Plugin_STATE_FAILED, fmt.Sprintf("%s; %s", err, p.wayBack()), problem{err.Error(), p.nextStep()})
	case quarantined:
		reason := fmt.Sprintf("quarantined, for it failed %d times within a minute: %s", count, err)
		p.fail(agentv1.Plugin_STATE_FAILED, reason+"; "+p.wayBack(), problem{reason, p.nextStep()})
	default:
		pause := p.restartPause(count)
		if blamed {
			pause = p.restartPause(min(count, blamedDoublings)) // others wait for the plugin
		}
		p.fail(agentv1.Plugin_STATE_RESTARTING, err.Error(), p.restarting(err))
		p.logger.Warn("plugin ended and is started again", "error", err, "pause", pause.Round(time.Millisecond))
		return time.After(pause)
	}
	p.logger.Error("plugin has failed", "error", err)
	return nil
}

// countCrash returns how often the plugin has ended lately, and whether that is too often.
func (p *Plugin) countCrash(blamed bool) (count int, quarantined bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	old := func(t time.Time) bool { return now.Sub(t) > crashWindow }
	if blamed {
		p.blamed = slices.DeleteFunc(append(p.blamed, now), old)
		return len(p.blamed), len(p.blamed) >= blamedLimit
	}
	p.crashes = slices.DeleteFunc(append(p.crashes, now), old)
	return len(p.crashes), len(p.crashes) >= crashLimit
}

// wayBack tells how a plugin that piped does not start any more is started.
func (p *Plugin) wayBack() string {
	command := "pipedeck restart " + p.Name()
	if p.watched.Load() {
		return "once its binary changes it is started again, or with: " + command
	}
	return "mend it, then start it with: " + command
}

// restartPause doubles with every crash; a random part keeps plugins that fell together from rising
// together.
func (p *Plugin) restartPause(crashes int) time.Duration {
	pause := min(p.options.RestartPause<<(crashes-1), maxRestartPause)
	return pause/2 + rand.N(pause/2+1)
}

// set changes the state of a plugin that works; a first start that was decided is remembered.
func (p *Plugin) set(state agentv1.Plugin_State, detail string) { p.fail(state, detail, problem{}) }

// changedDoesNotStart begins the detail of a plugin that goes on although its binary was changed.
const changedDoesNotStart = "its changed binary does not start, the one before it goes on"

// fail is set for one that has a problem.
func (p *Plugin) fail(state agentv1.Plugin_State, detail string, why problem) {
	p.mu.Lock()
	p.state, p.detail, p.problem = state, detail, why
	if state == agentv1.Plugin_STATE_FAILED || state == agentv1.Plugin_STATE_STOPPED {
		p.settled = true
	}
	p.mu.Unlock()
	p.changes.notify()
}

func (p *Plugin) began(proc *process) {
	p.mu.Lock()
	p.process, p.ready = proc, false
	p.starts++
	p.mu.Unlock()
	p.changes.notify()
}

// serving makes a process the one that new calls go to.
func (p *Plugin) serving(proc *process, able abilities) {
	p.mu.Lock()
	if p.process != proc { // it replaces another one
		p.process = proc
		p.starts++
	}
	p.usage = usage{} // what it took in its start says little
	p.ready, p.stages, p.sources, p.settled = true, able.stages, able.sources, true
	p.state, p.detail, p.problem = agentv1.Plugin_STATE_RUNNING, "", problem{}
	p.mu.Unlock()
	proc.guard(p.options.HealthInterval, p.options.HangTimeout, func(unwell bool) { p.unwell(proc, unwell) })
	proc.bound(p.limits)
	p.changes.notify()
	p.logger.Info("plugin is ready", "pid", proc.command.Process.Pid, "port", proc.port, "stages", able.stages,
		"took", time.Since(proc.started).Round(time.Millisecond))
}

// keeps withdraws what was said of a changed binary: the file holds the program that runs again.
func (p *Plugin) keeps(proc *process) {
	p.mu.Lock()
	if p.process == proc && p.state == agentv1.Plugin_STATE_RUNNING && strings.HasPrefix(p.detail, changedDoesNotStart) {
		p.detail, p.problem = "", problem{}
	}
	p.mu.Unlock()
	p.changes.notify()
}

// unwell shows what a plugin says of its own health; only an author knows what follows from it.
func (p *Plugin) unwell(proc *process, unwell bool) {
	p.mu.Lock()
	if p.process == proc && p.state == agentv1.Plugin_STATE_RUNNING {
		p.detail, p.problem = "", problem{}
		if unwell {
			p.detail = "it says of its own health that it does not serve"
			p.problem = problem{p.detail, "read its output: pipedeck logs --plugin " + p.Name()}
		}
	}
	p.mu.Unlock()
	p.changes.notify()
}

// ended forgets a process that is gone.
func (p *Plugin) ended(proc *process) {
	p.mu.Lock()
	p.process, p.ready, p.usage = nil, false, usage{}
	if p.state == agentv1.Plugin_STATE_RUNNING {
		p.state, p.detail, p.problem = agentv1.Plugin_STATE_RESTARTING, proc.exit.Error(), p.restarting(proc.exit)
	}
	p.mu.Unlock()
	p.noteLeft(proc)
	proc.close()
}

// drain takes a value that waits.
func drain(c chan struct{}) {
	select {
	case <-c:
	default:
	}
}
