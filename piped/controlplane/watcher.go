// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// pollTick is the time between two looks at the commands while no one pushes; the other lists are
	// fetched on every so many of these ticks. PipeCD v1: commands 5s, deployments 10s, applications and
	// events 1m.
	pollTick          = 5 * time.Second
	ticksDeployments  = 2
	ticksApplications = 12
	ticksEvents       = 12

	// rewatchUnimplemented is when a control plane that cannot push is asked again: it may have been replaced.
	rewatchUnimplemented = 10 * time.Minute
	rewatchLongest       = 30 * time.Second

	// maxRestarts bounds the plugin names that one subscription holds; more plugins than that are not run.
	maxRestarts = 1024
	// maxQuestions bounds the questions that one subscription holds; piped answers fewer at the same time.
	maxQuestions = 64
	// maxReruns bounds the re-runs that one subscription holds; piped begins fewer at the same time.
	maxReruns = 16
)

// Watcher reports what has changed at the control plane.
type Watcher struct {
	agent  agentv1.AgentServiceClient
	clock  clock.Timer
	logger *slog.Logger

	ticks int // of polling so far; used by Run only
	// heard is set once a watch said something: the control plane is one of pipedeck's.
	heard atomic.Bool

	mu            sync.Mutex
	started       bool // everything has been named once
	subscriptions map[*Subscription]struct{}
}

// NewWatcher creates a Watcher; nothing starts before Run. A nil timer is the system's clock, a nil logger silent.
func NewWatcher(agent agentv1.AgentServiceClient, timer clock.Timer, logger *slog.Logger) *Watcher {
	if timer == nil {
		timer = clock.System{}
	}
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Watcher{agent: agent, clock: timer, logger: logger, subscriptions: map[*Subscription]struct{}{}}
}

// Subscribe adds a consumer. The first thing that it hears names every list, as soon as the control plane
// can be asked. The consumer closes the subscription.
func (w *Watcher) Subscribe() *Subscription {
	s := &Subscription{watcher: w, changed: make(chan struct{}, 1), restarts: map[string]struct{}{}}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.subscriptions[s] = struct{}{}
	if w.started {
		s.add(everything())
	}
	return s
}

// Run holds the watch open until ctx ends, and polls while there is none. It always returns nil.
func (w *Watcher) Run(ctx context.Context) error {
	backoff := clock.NewBackoff(firstPause, rewatchLongest)
	reported := codes.OK
	for {
		heard, err := w.follow(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if heard {
			backoff.Reset()
			reported = codes.OK
		}
		code := status.Code(err)
		pause := backoff.Next()
		if code == codes.Unimplemented {
			pause = rewatchUnimplemented
		}
		if code != reported {
			w.report(code, err)
			reported = code
		}
		if !Passing(err) {
			// It answers, just not with a watch.
			w.start()
		}
		if !w.poll(ctx, pause) {
			return nil
		}
	}
}

func (w *Watcher) report(code codes.Code, err error) {
	if code == codes.Unimplemented {
		w.logger.Info("the control plane does not report changes; piped asks it regularly", "commands", pollTick,
			"deployments", ticksDeployments*pollTick, "applications", ticksApplications*pollTick)
		return
	}
	w.logger.Warn("the watch of the control plane broke; it is opened again", "error", err)
}

// follow passes on what one watch says until it breaks. It returns whether the watch said anything.
func (w *Watcher) follow(ctx context.Context) (heard bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := w.agent.Watch(ctx, &agentv1.WatchRequest{
		DeploysCommits: true, RemovesApplications: true, AnswersPluginCalls: true, RerunsStages: true,
		TakesFaults: true, StopsAtBreakpoints: true, LooksOnRequest: true,
	}, grpc.WaitForReady(true))
	if err != nil {
		return false, err
	}
	for {
		answer, err := stream.Recv()
		if err != nil {
			return heard, err
		}
		change := Change{
			Applications: answer.GetApplications(), Commands: answer.GetCommands(),
			Deployments: answer.GetDeployments(),
			Events:      answer.GetEvents(), RestartPlugins: answer.GetRestartPlugins(),
			PluginCalls: answer.GetPluginCalls(), StageReruns: answer.GetStageReruns(), Faults: answer.GetFaults(),
			Breakpoints: answer.GetBreakpoints(), Looks: answer.GetLooks(),
		}
		if !heard {
			// Anything may have changed while no one watched.
			heard = true
			w.heard.Store(true)
			w.logger.Debug("the control plane reports changes")
			change = everything()
			change.RestartPlugins, change.PluginCalls = answer.GetRestartPlugins(), answer.GetPluginCalls()
			change.StageReruns, change.Faults = answer.GetStageReruns(), answer.GetFaults()
			change.Breakpoints, change.Looks = answer.GetBreakpoints(), answer.GetLooks()
		}
		w.notify(change)
	}
}

// Heard reports whether a watch has said anything, so that the control plane is one of pipedeck's.
func (w *Watcher) Heard() bool { return w.heard.Load() }

// poll names the lists that are due by the clock, for the given time. It returns false when ctx has ended.
func (w *Watcher) poll(ctx context.Context, whole time.Duration) bool {
	for whole > 0 {
		step := min(pollTick, whole)
		if clock.Wait(ctx, w.clock, step) != nil {
			return false
		}
		whole -= step
		if step < pollTick {
			continue
		}
		w.ticks++
		w.notify(Change{
			Commands:     true,
			Deployments:  w.ticks%ticksDeployments == 0,
			Applications: w.ticks%ticksApplications == 0,
			Events:       w.ticks%ticksEvents == 0,
		})
	}
	return true
}

// start names everything once.
func (w *Watcher) start() {
	w.mu.Lock()
	started := w.started
	w.mu.Unlock()
	if !started {
		w.notify(everything())
	}
}

func (w *Watcher) notify(change Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started = w.started || change.Applications && change.Commands && change.Deployments && change.Events
	for s := range w.subscriptions {
		s.add(change)
	}
}
