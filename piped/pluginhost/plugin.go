// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/piped/config"
)

const (
	crashWindow     = time.Minute
	crashLimit      = 5 // within crashWindow; then only a user's word starts the plugin again
	maxRestartPause = 10 * time.Second
	startGrace      = 3 * time.Second // for a process that never answered
)

// Plugin is one configured plugin: at most one process at a time, and clients for it.
type Plugin struct {
	config  config.Plugin
	options *Options
	changes *broadcast
	logger  *slog.Logger
	output  *output
	restart chan struct{}

	mu      sync.Mutex
	state   agentv1.Plugin_State
	detail  string
	settled bool // the outcome of the first start is known
	starts  int
	stages  []string
	sources *deployment.GetSourceUseResponse
	process *process // set while one exists
	ready   bool     // process answers
	crashes []time.Time
	usage   usage
}

func newPlugin(c config.Plugin, options *Options, changes *broadcast) *Plugin {
	return &Plugin{
		config:  c,
		options: options,
		changes: changes,
		logger:  options.Logger.With("plugin", c.Name),
		output:  newOutput(options.LogDir, c.Name, options.Mask),
		restart: make(chan struct{}, 1),
		state:   agentv1.Plugin_STATE_STARTING,
	}
}

// Name is the name in the piped configuration: the key in applications and deploy targets.
func (p *Plugin) Name() string { return p.config.Name }

// WaitRunning returns when the plugin answers. It gives a NotRunningError when the plugin has failed for
// good, and that of its last state when ctx ends first.
func (p *Plugin) WaitRunning(ctx context.Context) error {
	for {
		changed := p.changes.next()
		err := p.notRunning()
		if err == nil {
			return nil
		}
		if p.State() == agentv1.Plugin_STATE_FAILED || p.State() == agentv1.Plugin_STATE_STOPPED {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return err
		}
	}
}

// State tells what the plugin is doing now.
func (p *Plugin) State() agentv1.Plugin_State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// Status is a snapshot owned by the caller.
func (p *Plugin) Status() *agentv1.Plugin {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &agentv1.Plugin{
		Name:       p.config.Name,
		State:      p.state,
		Detail:     p.detail,
		Restarts:   int32(max(0, p.starts-1)),
		RssBytes:   p.usage.rss,
		CpuPercent: p.usage.cpu,
		Stages:     slices.Clone(p.stages),
		LastOutput: p.output.last(),
	}
	if p.process != nil {
		s.Pid = int32(p.process.command.Process.Pid)
		s.StartedAt = timestamppb.New(p.process.started)
	}
	for _, t := range p.config.DeployTargets {
		s.DeployTargets = append(s.DeployTargets, t.Name)
	}
	return s
}

// run starts the plugin and starts it again after each end, until ctx ends.
func (p *Plugin) run(ctx context.Context, lifeline *os.File) {
	defer p.output.close()
	for {
		err := p.live(ctx, lifeline)
		if ctx.Err() != nil {
			p.set(agentv1.Plugin_STATE_STOPPED, "piped is stopping")
			return
		}
		var pause <-chan time.Time
		if !errors.Is(err, errRestart) {
			pause = p.afterCrash(err)
		} else {
			p.forgetCrashes()
			now := make(chan time.Time)
			close(now)
			pause = now
		}
		select {
		case <-pause:
		case <-p.restart:
			p.forgetCrashes()
		case <-ctx.Done():
		}
	}
}

// errRestart ends a process because a user asked for a new one.
var errRestart = errors.New("restart requested")

// permanentError is one that another start cannot mend.
type permanentError struct{ error }

func (e permanentError) Unwrap() error { return e.error }

// live is the whole life of one process; it returns why it ended.
func (p *Plugin) live(ctx context.Context, lifeline *os.File) error {
	if ctx.Err() != nil {
		return errStopped
	}
	p.set(agentv1.Plugin_STATE_STARTING, "")
	binary, err := fetchBinary(p.options.BinaryDir, p.config.Name, p.config.URL)
	if err != nil {
		return permanentError{err}
	}
	proc, err := p.launch(binary, lifeline)
	if err != nil {
		return err
	}
	p.began(proc)
	defer p.ended(proc)
	p.logger.Debug("plugin process started", "pid", proc.command.Process.Pid, "port", proc.port)

	told, err := p.awaitReady(ctx, proc)
	if err != nil {
		proc.stop(min(p.options.GracePeriod, startGrace)) // it has no work to finish
		return err
	}
	p.running(told)
	p.logger.Info("plugin is ready", "pid", proc.command.Process.Pid, "port", proc.port, "stages", told.stages,
		"took", time.Since(proc.started).Round(time.Millisecond))

	select {
	case <-proc.exited:
		return proc.exit
	case <-p.restart:
		proc.stop(p.options.GracePeriod)
		return errRestart
	case <-ctx.Done():
		proc.stop(p.options.GracePeriod)
		return errStopped
	}
}

// launch starts a process of a binary, with a link when it can use one.
func (p *Plugin) launch(b binary, lifeline *os.File) (_ *process, err error) {
	var private *link
	port := 0
	if b.linked && p.options.Service != nil {
		private, err = newLink()
	} else {
		port, err = choosePort(p.config.Name, p.config.Port)
	}
	if err != nil {
		return nil, err
	}
	proc, err := launch(b.path, p.config, port, p.options.ServiceAddress, lifeline, private, p.output)
	if err != nil {
		if private != nil {
			private.close()
		}
		return nil, permanentError{err}
	}
	proc.release = p.connect(proc)
	return proc, nil
}

// afterCrash notes the end and tells when to start again: nil means only when asked.
func (p *Plugin) afterCrash(err error) <-chan time.Time {
	p.mu.Lock()
	now := time.Now()
	p.crashes = slices.DeleteFunc(append(p.crashes, now), func(t time.Time) bool { return now.Sub(t) > crashWindow })
	count := len(p.crashes)
	p.mu.Unlock()

	var permanent permanentError
	switch {
	case errors.As(err, &permanent):
		p.set(agentv1.Plugin_STATE_FAILED, fmt.Sprintf("%s; then restart the plugin", err))
	case count >= crashLimit:
		p.set(agentv1.Plugin_STATE_FAILED,
			fmt.Sprintf("%s (%d times within a minute); mend it, then restart the plugin", err, count))
	default:
		pause := p.restartPause(count)
		p.set(agentv1.Plugin_STATE_RESTARTING, err.Error())
		p.logger.Warn("plugin ended and is started again", "error", err, "pause", pause.Round(time.Millisecond))
		return time.After(pause)
	}
	p.logger.Error("plugin has failed", "error", err)
	return nil
}

// restartPause doubles with every crash; a random part keeps plugins that fell together from rising
// together.
func (p *Plugin) restartPause(crashes int) time.Duration {
	pause := min(p.options.RestartPause<<(crashes-1), maxRestartPause)
	return pause/2 + rand.N(pause/2+1)
}

func (p *Plugin) forgetCrashes() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.crashes = nil
}

func (p *Plugin) requestRestart() {
	select {
	case p.restart <- struct{}{}:
	default: // one is already on its way
	}
}

// set changes the state; a first start that was decided is remembered.
func (p *Plugin) set(state agentv1.Plugin_State, detail string) {
	p.mu.Lock()
	p.state, p.detail = state, detail
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

func (p *Plugin) running(told abilities) {
	p.mu.Lock()
	p.ready, p.stages, p.sources, p.settled = true, told.stages, told.sources, true
	p.state, p.detail = agentv1.Plugin_STATE_RUNNING, ""
	p.mu.Unlock()
	p.changes.notify()
}

func (p *Plugin) ended(proc *process) {
	p.mu.Lock()
	p.process, p.ready, p.usage = nil, false, usage{}
	if p.state == agentv1.Plugin_STATE_RUNNING {
		p.state = agentv1.Plugin_STATE_RESTARTING
	}
	p.mu.Unlock()
	proc.close()
}

func (p *Plugin) stageNames() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stages
}

func (p *Plugin) hasSettled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.settled
}

// notRunning is nil when the plugin answers.
func (p *Plugin) notRunning() error {
	_, err := p.readyProcess()
	return err
}

// readyProcess is the process that answers calls, or a NotRunningError.
func (p *Plugin) readyProcess() (*process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ready && !p.process.over() {
		return p.process, nil
	}
	words := map[agentv1.Plugin_State]string{
		agentv1.Plugin_STATE_STARTING:   "is starting",
		agentv1.Plugin_STATE_RUNNING:    "has just ended",
		agentv1.Plugin_STATE_RESTARTING: "is being started again",
		agentv1.Plugin_STATE_FAILED:     "has failed",
		agentv1.Plugin_STATE_STOPPED:    "is stopped",
	}
	return nil, &NotRunningError{Plugin: p.config.Name, State: words[p.state], Detail: p.detail}
}
