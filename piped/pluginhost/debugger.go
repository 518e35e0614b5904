// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"fmt"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// traceInterval is the time between two looks for a debugger while a plugin starts or works, traceRest while it
	// rests. No event reports that a debugger begins or ends.
	traceInterval = 500 * time.Millisecond
	traceRest     = 5 * time.Second
	// traceBelowEvery is how many looks at a plugin that rests there are for each look at what it has started: to list
	// the children of fifty plugins costs more than everything else that piped does for plugins at rest.
	traceBelowEvery = 6
)

// hold is a process that a debugger holds, and the debugger: process ids, zero for none. A process that does not answer
// its piped, which it was attached to, counts as held by an unknown one.
type hold struct {
	held, by int
	// stopped is set while the process stands still; it is not set while it runs under its debugger.
	stopped, silent bool
}

// debugger is how long debuggers have held the processes of a plugin, or what they have started. The clocks of whoever
// waits for the plugin stand still meanwhile. A nil debugger is one that never comes.
type debugger struct {
	// changed is called when a debugger begins or ends.
	changed func()

	mu    sync.Mutex
	holds map[*process]hold
	since time.Time // when the first of holds began; zero while there are none
	total time.Duration
}

// see notes whether a debugger holds a process now.
func (d *debugger) see(p *process, seen hold) {
	if d != nil && d.note(time.Now(), p, seen) {
		d.changed()
	}
}

// note is see without the announcement. It reports whether there is one to make.
func (d *debugger) note(now time.Time, p *process, seen hold) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	news := d.holds[p] != seen
	switch {
	case seen == hold{}:
		delete(d.holds, p)
	case d.holds == nil:
		d.holds = map[*process]hold{p: seen}
	default:
		d.holds[p] = seen
	}
	switch {
	case len(d.holds) > 0 && d.since.IsZero():
		d.since = now
	case len(d.holds) == 0 && !d.since.IsZero():
		d.total += now.Sub(d.since)
		d.since = time.Time{}
	}
	return news
}

// holding reports whether a debugger held the process when it was last looked for.
func (d *debugger) holding(p *process) bool {
	if d == nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	_, held := d.holds[p]
	return held
}

// time is how long debuggers have held the plugin in all so far.
func (d *debugger) time() time.Duration {
	if d == nil {
		return 0
	}
	d.mu.Lock()
	var seeking []*process
	for p := range d.holds {
		seeking = append(seeking, p)
	}
	d.mu.Unlock()
	for _, p := range seeking {
		p.seek() // it may have been let go since
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.since.IsZero() {
		return d.total
	}
	return d.total + time.Since(d.since)
}

// detail is how users read that a debugger holds the plugin; empty for none. Stopped is set while it stands still.
func (d *debugger) detail() (text string, stopped bool) {
	if d == nil {
		return "", false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, hold := range d.holds {
		if hold.silent {
			return "held by a debugger, or it hangs: it does not answer, and no clock runs", true
		}
		name := processName(hold.by)
		if name == "" {
			name = "unknown program"
		}
		if !hold.stopped {
			return fmt.Sprintf("runs under a debugger (%s, pid %d): no clock runs", name, hold.by), false
		}
		return fmt.Sprintf("held by a debugger (%s, pid %d): no clock runs", name, hold.by), true
	}
	return "", false
}

// seek looks for a debugger, and reports whether one holds the process or what it has started, which then need not
// answer.
func (p *process) seek() bool { return p.look(tracedBelow) }

// look is seek with the function that looks.
func (p *process) look(traced func(pid int) (held, by int, stopped bool)) bool {
	var seen hold
	if (p.attachment != nil || p.command != nil && p.command.Process != nil) && !p.ending.gone.Load() {
		if pid := p.pid(); pid != 0 {
			seen.held, seen.by, seen.stopped = traced(pid)
		}
		if p.attachment != nil && seen.by == 0 && p.attachment.silent.Load() {
			seen.silent = true
		}
	}
	p.debugger.see(p, seen)
	return seen != hold{}
}

// watchDebugger looks for debuggers until the process ends.
func (p *process) watchDebugger() {
	p.watch.running.Go(func() {
		for looks := 0; ; looks++ {
			due, traced := clock.Together(time.Now(), traceRest), tracedItself
			works := !p.watch.answered.Load() || len(p.inputs.running()) > 0
			if works || p.debugger.holding(p) || looks%traceBelowEvery == 0 {
				traced = tracedBelow
			}
			if p.look(traced) || works {
				due = traceInterval
			}
			select {
			case <-p.ending.exited:
				p.seek() // it is held no more
				return
			case <-p.watch.called:
			case <-time.After(due):
			}
		}
	})
}
