// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/piped/pluginhost/reattach"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/system/filewatch"
	"github.com/pipedeck/pipedeck/system/plainerror"
)

// attachInterval is the time between two looks for a process that its author may have started: no event reports that.
const attachInterval = time.Second

// attacher connects the plugin to processes that its author has started, one after the other, while it has a target.
type attacher struct {
	launcher  *launcher
	condition *condition
	logger    *slog.Logger
	// came gets a value when there is a process to take.
	came chan struct{}
	// changed gets a value when target has changed.
	changed chan struct{}
	// tried is closed when a target that was there from the start has been tried.
	tried chan struct{}

	mu     sync.Mutex
	target *reattach.Target
	ready  *attached
	// last is the process that was connected last; nil when it may be used again.
	last *process
}

// attached is a process that answers.
type attached struct {
	proc *process
	able abilities
}

func newAttacher(l *launcher, c *condition, logger *slog.Logger) *attacher {
	return &attacher{
		launcher: l, condition: c, logger: logger,
		came: make(chan struct{}, 1), changed: make(chan struct{}, 1), tried: make(chan struct{}),
	}
}

// set gives the plugin another target; nil for none, which leaves the process of the one before.
func (a *attacher) set(target *reattach.Target) {
	a.mu.Lock()
	same := a.target == target || a.target != nil && target != nil && *a.target == *target
	a.target = target
	a.mu.Unlock()
	if !same {
		signal(a.changed)
	}
}

func (a *attacher) wanted() *reattach.Target {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.target
}

// take returns a process that answers, for the caller to own; nil for none.
func (a *attacher) take() *attached {
	a.mu.Lock()
	defer a.mu.Unlock()
	ready := a.ready
	a.ready = nil
	return ready
}

// run connects until ctx ends. The processes are ended by who takes them.
func (a *attacher) run(ctx context.Context) {
	defer a.discard()
	tried := sync.OnceFunc(func() { close(a.tried) })
	defer tried()
	for ctx.Err() == nil {
		drain(a.changed) // what it says is read now
		target := a.wanted()
		if target == nil {
			a.condition.setAwaited("")
			tried()
			select {
			case <-a.changed:
			case <-ctx.Done():
			}
			continue
		}
		proc := a.connect(ctx, *target)
		tried()
		if proc != nil {
			a.stay(ctx, proc)
			continue
		}
		select {
		case <-a.changed:
		case <-time.After(clock.Together(time.Now(), attachInterval)):
		case <-ctx.Done():
		}
	}
}

// connect tries once. It returns nil when there is no process.
func (a *attacher) connect(ctx context.Context, target reattach.Target) *process {
	where := "at " + target.Address
	if target.Address == "" {
		where = "that announces itself"
	}
	proc, able, err := a.launcher.attach(ctx, target)
	switch {
	case ctx.Err() != nil && err != nil:
		return nil
	case errors.Is(err, errNoProcess):
		a.last = nil
		a.condition.setAwaited("waiting for a process " + where + ": start it, or run: pipedeck plugin detach " +
			target.Plugin)
		return nil
	case err != nil:
		if a.condition.setAwaited("cannot attach a process: " + plainerror.Text(err)) {
			a.logger.Warn("cannot attach a process", "error", err)
		}
		return nil
	}
	if again := a.last; again != nil && again.attachment.spent.Load() && again.attachment.same(proc.attachment) {
		proc.stop(0)
		proc.close()
		a.condition.setAwaited("piped has left the process " + proc.attachment.name() + ": start another one")
		return nil
	}
	a.mu.Lock()
	a.ready, a.last = &attached{proc: proc, able: able}, proc
	a.mu.Unlock()
	a.condition.setAwaited("")
	a.logger.Info("a process that its author has started is attached", "process", proc.attachment.name())
	signal(a.came)
	return proc
}

// same reports whether two attachments are to one process.
func (a *attachment) same(other *attachment) bool {
	return a.pid == other.pid && a.target.Address == other.target.Address && a.target.Token == other.target.Token
}

// stay returns when the process works for piped no more. It leaves it when the plugin gets another target.
func (a *attacher) stay(ctx context.Context, proc *process) {
	select {
	case <-proc.ending.exited:
	case <-ctx.Done():
	case <-a.changed:
		proc.stop(a.launcher.options.GracePeriod)
	}
}

// discard leaves a process that no one has taken.
func (a *attacher) discard() {
	if left := a.take(); left != nil {
		left.proc.stop(0)
		left.proc.close()
	}
}

// firstTry waits until a target that was there from the start has been tried, or ctx ends.
func (a *attacher) firstTry(ctx context.Context) {
	select {
	case <-a.tried:
	case <-ctx.Done():
	}
}

// followTargets gives the plugins their targets until ctx ends: those of the options and of the file, which win.
func (h *Host) followTargets(ctx context.Context) {
	path := h.options.ReattachFile
	if path == "" {
		return
	}
	files := filewatch.New(filewatch.Options{Most: 1})
	defer files.Close()
	if err := files.Add(filepath.Dir(path)); err != nil {
		h.options.Logger.Warn("users cannot attach processes while piped runs", "error", err)
		return
	}
	for {
		h.setTargets()
		select {
		case <-ctx.Done():
			return
		case event := <-files.Events():
			if event.Name != path {
				continue
			}
		case <-files.Lost():
		}
	}
}

// setTargets gives the plugins the targets of now.
func (h *Host) setTargets() {
	targets := map[string]*reattach.Target{}
	if path := h.options.ReattachFile; path != "" {
		var err error
		if targets, err = reattach.ReadFile(path); err != nil {
			h.options.Logger.Warn("cannot read which processes to attach", "error", err)
			return
		}
	}
	for _, target := range h.options.Reattach {
		if _, replaced := targets[target.Plugin]; !replaced {
			targets[target.Plugin] = &target
		}
	}
	for _, p := range h.plugins {
		p.supervisor.attacher.set(targets[p.Name()])
	}
}
