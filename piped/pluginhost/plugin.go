// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
	"github.com/pipedeck/pipedeck/system/processtree"
)

// Plugin is one configured plugin, and clients for it. One process answers new calls; those that it has
// replaced finish theirs beside it.
type Plugin struct {
	config  config.Plugin
	options *Options
	changes *broadcast
	logger  *slog.Logger
	limits  limits
	groups  *cgroups // nil without limits, or without control groups
	tree    *processtree.Tree
	fetcher *fetch.Fetcher
	output  *output
	restart chan struct{}
	// renewed gets a value when the binary at the plugin's url may have changed.
	renewed chan struct{}
	// watched is set while a change of the binary is noticed.
	watched atomic.Bool
	// scanned is the binary that was read last; nil for none.
	scanned atomic.Pointer[scanned]
	// suspicion knows the inputs during which processes have ended.
	suspicion *suspicion
	// retired counts the replaced processes that finish their calls.
	retired sync.WaitGroup

	mu      sync.Mutex
	state   agentv1.Plugin_State
	detail  string
	problem problem // why it does not work as it should; zero when it does
	// abandoned tells why piped ended the last process that did not end by itself; empty after another end.
	abandoned string
	note      string // what a running plugin is shown with when it has no detail
	settled   bool   // the outcome of the first start is known
	// fetching is set while the binary may be on its way from another machine.
	fetching bool
	starts   int
	stages   []string
	sources  *deployment.GetSourceUseResponse
	process  *process // set while one exists
	ready    bool     // process answers
	leaving  []string // replaced processes that have calls, as "pid 5"
	crashes  []time.Time
	// waits are how long the planning of deployments has waited for a build, by deployment.
	waits map[string]time.Duration
	// examined is the file of the program that was started or refused last, refused why.
	examined identity
	refused  error
	blamed   []time.Time         // crashes that are counted against the input of a call
	left     []*processtree.Tree // of processes that have ended, with members that have not
	usage    usage
}

func newPlugin(c config.Plugin, options *Options, changes *broadcast, fetcher *fetch.Fetcher, tree *processtree.Tree) *Plugin {
	p := &Plugin{
		config:  c,
		options: options,
		changes: changes,
		fetcher: fetcher,
		tree:    tree,
		logger:  options.Logger.With("plugin", c.Name),
		limits:  limitsOf(c.Limits),
		output:  newOutput(options.LogDir, c.Name, options.Mask),
		restart: make(chan struct{}, 1),
		renewed: make(chan struct{}, 1),

		suspicion: newSuspicion(),

		state: agentv1.Plugin_STATE_STARTING,
	}
	if options.Echo {
		p.output.echo = func(line string) { p.logger.Info("plugin output", "line", line) }
	}
	return p
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
		OpenFiles:  p.usage.files,
		Threads:    p.usage.threads,

		MemoryLimitBytes: p.limits.memory,
		CpuLimitCores:    p.limits.cpu,
		PidsLimit:        uint32(p.limits.pids),

		Stages:     slices.Clone(p.stages),
		LastOutput: p.output.last(),
	}
	if len(p.leaving) > 0 && s.Detail == "" && p.state == agentv1.Plugin_STATE_RUNNING {
		s.Detail = "running stages finish on the process before: " + strings.Join(p.leaving, ", ")
	}
	if s.Detail == "" && p.state == agentv1.Plugin_STATE_RUNNING {
		s.Detail = p.abandoned
	}
	if s.Detail == "" && p.state == agentv1.Plugin_STATE_RUNNING {
		s.Detail = p.note
	}
	if p.process != nil {
		s.Pid = int32(p.process.command.Process.Pid)
		s.StartedAt = timestamppb.New(p.process.started)
		s.Linked = p.process.link != nil
		s.Goroutines = p.process.goroutines.Load()
	}
	for _, t := range p.config.DeployTargets {
		s.DeployTargets = append(s.DeployTargets, t.Name)
	}
	return s
}

func (p *Plugin) forgetCrashes() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.crashes, p.blamed = nil, nil
}

func (p *Plugin) requestRestart() { signal(p.restart) }

// signal never blocks: one value that waits stands for all that follow it.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
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

// starting tells whether the plugin is in its first start and its binary is here.
func (p *Plugin) starting() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.settled && !p.fetching
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
	return p.readyLocked()
}

// callProcess is readyProcess for a call: the process is not stopped for another one before done is called.
func (p *Plugin) callProcess(method string, opts []grpc.CallOption) (_ *process, done func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	proc, err := p.readyLocked()
	if err == nil {
		err = enough(p.config.Name, p.sources, opts)
	}
	if err != nil || !outlasts(method) {
		return proc, func() {}, err
	}
	proc.calls.Add(1)
	return proc, proc.calls.Done, nil
}

func (p *Plugin) readyLocked() (*process, error) {
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
