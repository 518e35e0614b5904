// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
	"github.com/pipedeck/pipedeck/piped/pluginhost/reattach"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/system/processtree"
)

// Defaults of Options.
const (
	DefaultStartTimeout = 30 * time.Second
	DefaultGracePeriod  = 30 * time.Second
	defaultRestartPause = 200 * time.Millisecond
)

// Options of a Host.
type Options struct {
	// Plugins as the piped configuration lists them; their order is kept everywhere.
	Plugins []config.Plugin
	// PluginIndex is where plugins are looked up whose url is a name; empty for nowhere.
	PluginIndex string
	// ProcessTree holds the plugin processes and what they start. Run ends what an earlier process has left in it. Nil
	// for a new one, which no later process knows.
	ProcessTree *processtree.Tree
	// BinaryDir keeps the copies of the plugin binaries, named by content. It is created when missing.
	BinaryDir string
	// ServiceAddress is what plugins get as --piped-plugin-service ("localhost:9087").
	ServiceAddress string
	// Service answers plugins. Nil leaves every plugin on loopback, with what PipeCD v1 allows there.
	Service Service
	// StartTimeout limits the time from exec to an answered FetchDefinedStages. Default 30 s.
	StartTimeout time.Duration
	// GracePeriod is the time between SIGTERM and SIGKILL. Default 30 s.
	GracePeriod time.Duration
	// RestartPause is the first pause before a crashed plugin starts again; it doubles with every crash
	// within a minute, up to 10 s. Default 200 ms.
	RestartPause time.Duration
	// HealthInterval is the pause between questions for a plugin's health. Default 5 s.
	HealthInterval time.Duration
	// HangTimeout is how long an answer to one may take, before the process is ended and started again. Default
	// 15 s, negative for ever.
	HangTimeout time.Duration
	// NoReload leaves a plugin running when its binary changes, until it is restarted.
	NoReload bool
	// Observer sees what plugins do.
	Observer Observer
	Output
	Reattaching
	// Clock is what the host waits by, but for measures; the system's by default.
	Clock  clock.Clock
	Logger *slog.Logger
}

// Output is what happens with what plugins write.
type Output struct {
	// LogDir gets one bounded file of output per plugin; empty for none.
	LogDir string
	// ExitDir keeps the last exits of each plugin in a file, for the next piped; empty for none.
	ExitDir string
	// Echo writes each line of output to Logger, too, with the plugin's name.
	Echo bool
	// Mask hides secrets in what plugins write; nil hides none.
	Mask Mask
}

// Reattaching are processes that authors have started, to use in place of the plugins' own.
type Reattaching struct {
	// Reattach are those from the start.
	Reattach []reattach.Target
	// ReattachFile has those of later, which win; empty for none.
	ReattachFile string
}

// Observer sees what plugins do. Each function may be nil.
type Observer struct {
	// Calls returns what sees the calls to a process of a plugin; build is the SHA-256 of its program, in hexadecimal.
	Calls func(plugin, build string) grpc.UnaryClientInterceptor
	// Started gets the outcome of each start of a process.
	Started func(plugin string, began time.Time, err error)
	// Described gets the JSON Schema of the options of a plugin whose process has just answered; empty when the plugin
	// ships none. It must return at once.
	Described func(plugin string, schema []byte)
}

// Mask hides secrets in a line of output, which may be cut off.
type Mask func(line string, cut bool) string

// Host runs the plugins of one piped. Its methods may be called from any goroutine.
type Host struct {
	options Options
	plugins []*Plugin
	changes *broadcast
	tree    *processtree.Tree
}

// New returns a Host; nothing is started before Run. It fails on two plugins with one name.
func New(options Options) (*Host, error) {
	if options.StartTimeout <= 0 {
		options.StartTimeout = DefaultStartTimeout
	}
	if options.GracePeriod <= 0 {
		options.GracePeriod = DefaultGracePeriod
	}
	if options.RestartPause <= 0 {
		options.RestartPause = defaultRestartPause
	}
	if options.HealthInterval <= 0 {
		options.HealthInterval = DefaultHealthInterval
	}
	if options.HangTimeout == 0 {
		options.HangTimeout = DefaultHangTimeout
	}
	if options.Clock == nil {
		options.Clock = clock.System{}
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	h := &Host{options: options, changes: newBroadcast(), tree: options.ProcessTree}
	if h.tree == nil {
		h.tree = processtree.New()
	}
	fetcher := fetch.New(fetch.Options{
		Dir: fetch.CacheDir(options.BinaryDir), Clock: options.Clock, Logger: options.Logger,
	})
	for _, c := range options.Plugins {
		if h.find(c.Name) != nil {
			return nil, fmt.Errorf(
				"two plugins are named %q in the piped configuration: give each its own name", c.Name,
			)
		}
		h.plugins = append(h.plugins, newPlugin(c, &h.options, h.changes, fetcher, h.tree))
	}
	for _, target := range options.Reattach {
		if _, err := h.Plugin(target.Plugin); err != nil {
			return nil, fmt.Errorf("read %s: %w", reattach.Variable, err)
		}
	}
	return h, nil
}

// Run starts all plugins at once and keeps them running until ctx ends; then it stops them and returns
// when the last process is gone.
func (h *Host) Run(ctx context.Context) error {
	if err := os.MkdirAll(h.options.BinaryDir, 0o700); err != nil {
		return fmt.Errorf("create the directory for plugin binaries: %w", err)
	}
	// Every plugin holds the read end; all of them see its end when this process is gone.
	lifeline, keep, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("create the pipe that signals the end of piped to plugins: %w", err)
	}
	defer keep.Close()
	defer lifeline.Close()

	h.endEarlier(ctx)
	defer h.tree.RemoveGroups()
	h.confine(ctx)
	var running sync.WaitGroup
	if !h.options.NoReload {
		watch := h.watchBinaries()
		running.Go(func() { watch.run(ctx) })
	}
	h.setTargets()
	running.Go(func() { h.followTargets(ctx) })
	for _, p := range h.plugins {
		running.Go(func() { p.supervisor.attacher.run(ctx) })
		running.Go(func() { p.supervisor.run(ctx, lifeline) })
	}
	running.Wait()
	return nil
}

// Plugins lists the plugins in configuration order.
func (h *Host) Plugins() []*Plugin { return slices.Clone(h.plugins) }

// Plugin returns the plugin with that name or an UnknownPluginError.
func (h *Host) Plugin(name string) (*Plugin, error) {
	if p := h.find(name); p != nil {
		return p, nil
	}
	var known []string
	for _, p := range h.plugins {
		known = append(known, p.Name())
	}
	return nil, &UnknownPluginError{Name: name, Known: known}
}

// Owner returns the plugin that owns a stage; it may be down at the moment. While a plugin is in its
// first start, Owner waits for what comes of it, so that a deployment right after the start of piped
// finds its plugins. Where a plugin owns the stage, it does not wait for others that are still fetched, which can
// take long; one that claims the stage, too, is reported when it is there. The errors are UnknownStageError,
// StageConflictError and that of ctx.
func (h *Host) Owner(ctx context.Context, stage string) (*Plugin, error) {
	for {
		changed := h.changes.next()
		owners := h.owners(stage)
		switch {
		case h.mayBeNamed(stage):
		case len(owners) > 1:
			return nil, &StageConflictError{Stage: stage, Plugins: names(owners)}
		case len(owners) == 1 && !slices.ContainsFunc(
			h.plugins, func(p *Plugin) bool { return p.condition.starting() },
		):
			return owners[0], nil
		case len(owners) == 0 && h.settled():
			return nil, h.unknownStage(stage)
		}
		end := waitsFor(ctx, h.unsettled())
		select {
		case <-changed:
			end()
		case <-ctx.Done():
			end()
			return nil, context.Cause(ctx)
		}
	}
}

// Settled waits until the named plugins run or have failed their first start; without names, all of them.
func (h *Host) Settled(ctx context.Context, names ...string) error {
	for {
		changed := h.changes.next()
		if h.settled(names...) {
			return nil
		}
		end := waitsFor(ctx, h.unsettled(names...))
		select {
		case <-changed:
			end()
		case <-ctx.Done():
			end()
			return context.Cause(ctx)
		}
	}
}

// Restart stops the process of a plugin and starts it again, also one that has failed for good.
func (h *Host) Restart(name string) error {
	p, err := h.Plugin(name)
	if err != nil {
		return err
	}
	signal(p.supervisor.restart)
	return nil
}

// Status is a snapshot of all plugins in configuration order, owned by the caller.
func (h *Host) Status() []*agentv1.Plugin {
	out := make([]*agentv1.Plugin, 0, len(h.plugins))
	for _, p := range h.plugins {
		out = append(out, p.Status())
	}
	for i, s := range out {
		if s.Detail == "" {
			s.Detail = h.stageProblem(h.plugins[i], s.Stages)
		}
	}
	return out
}

// stageProblem reports what is wrong with the stages of a running plugin; empty for nothing.
func (h *Host) stageProblem(p *Plugin, stages []string) string {
	if len(stages) == 0 && p.State() == agentv1.Plugin_STATE_RUNNING {
		return "it names no stages (FetchDefinedStages), so no pipeline can use it: this is a mistake in the plugin"
	}
	for _, stage := range stages {
		if owners := h.owners(stage); len(owners) > 1 && slices.Contains(owners, p) {
			return (&StageConflictError{Stage: stage, Plugins: names(owners)}).Error()
		}
	}
	for _, stage := range p.config.Stages {
		if len(stages) > 0 && !slices.Contains(stages, stage) {
			return fmt.Sprintf(
				"its stages in the piped configuration name %q, which it does not offer: correct or remove it", stage,
			)
		}
	}
	return ""
}

// Changed is closed at the next change of any plugin's state. Take it before Status to miss nothing.
func (h *Host) Changed() <-chan struct{} { return h.changes.next() }

func (h *Host) find(name string) *Plugin {
	for _, p := range h.plugins {
		if p.Name() == name {
			return p
		}
	}
	return nil
}

// owners are the plugins that offer a stage, or the one among them whose configuration says so.
func (h *Host) owners(stage string) []*Plugin {
	var offering, named []*Plugin
	for _, p := range h.plugins {
		if !slices.Contains(p.condition.abilities().stages, stage) {
			continue
		}
		offering = append(offering, p)
		if slices.Contains(p.config.Stages, stage) {
			named = append(named, p)
		}
	}
	if len(named) > 0 {
		return named
	}
	return offering
}

func (h *Host) settled(names ...string) bool { return h.unsettled(names...) == "" }

// mayBeNamed reports whether the stage is given by the configuration to a plugin of which no one knows yet whether it
// offers it.
func (h *Host) mayBeNamed(stage string) bool {
	return slices.ContainsFunc(
		h.plugins, func(p *Plugin) bool { return slices.Contains(p.config.Stages, stage) && !p.condition.hasSettled() },
	)
}

func (h *Host) unknownStage(stage string) error {
	unknown := &UnknownStageError{Stage: stage}
	for _, p := range h.plugins {
		stages := p.condition.abilities().stages
		unknown.Known = append(unknown.Known, stages...)
		err := p.condition.check()
		switch {
		case len(stages) == 0 && err != nil:
			unknown.Down = append(unknown.Down, err)
		case len(stages) == 0 && p.State() == agentv1.Plugin_STATE_RUNNING:
			unknown.Stageless = append(unknown.Stageless, p.Name())
		}
	}
	return unknown
}

func names(plugins []*Plugin) []string {
	out := make([]string, 0, len(plugins))
	for _, p := range plugins {
		out = append(out, p.Name())
	}
	return out
}

// broadcast notifies any number of waiters that something has changed.
type broadcast struct {
	mu sync.Mutex
	ch chan struct{}
}

func newBroadcast() *broadcast { return &broadcast{ch: make(chan struct{})} }

func (b *broadcast) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ch
}

func (b *broadcast) notify() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.ch)
	b.ch = make(chan struct{})
}

// signal never blocks: one value that waits stands for all that follow it.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// HeldTime is how long debuggers have held plugins in all so far. Two that are held at the same time count twice.
func (h *Host) HeldTime() (held time.Duration) {
	for _, p := range h.plugins {
		held += p.HeldTime()
	}
	return held
}

var errStopped = errors.New("piped is stopping")
