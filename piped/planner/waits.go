// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"context"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/system/clock"
)

// waitShown is how long a plan waits for a plugin before users learn which one it is.
const waitShown = 5 * time.Second

// Wait is the plugin that a plan has waited for since a time; the zero value is for none.
type Wait struct {
	Plugin string
	Since  time.Time
}

// sameWait is the pause within which calls to one plugin are one wait.
const sameWait = time.Second

// waits notes which plugin a plan waits for, and reports it after waitShown.
type waits struct {
	clock clock.Clock
	// report gets each change of what users have to know. It may take its time.
	report func(Wait)

	mu sync.Mutex
	// now is the present wait; the last one, until over, while running is 0.
	now     Wait
	over    time.Time
	running int
	changed chan struct{} // holds a value after a change
	done    chan struct{}
	ended   sync.WaitGroup
}

// watch returns a context whose calls to plugins are noted, until stop is called: then nothing is waited for.
func watch(ctx context.Context, c clock.Clock, report func(Wait)) (_ context.Context, stop func()) {
	w := &waits{clock: c, report: report, changed: make(chan struct{}, 1), done: make(chan struct{})}
	w.ended.Go(w.run)
	return pluginhost.WithWaits(ctx, w.begin), func() {
		close(w.done)
		w.ended.Wait()
	}
}

// begin notes the beginning of a wait. Of several at once the first one counts.
func (w *waits) begin(plugin string) (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running++; w.running == 1 {
		now := w.clock.Now()
		if w.now.Plugin != plugin || now.Sub(w.over) > sameWait {
			w.now = Wait{plugin, now}
		}
		w.signal()
	}
	return w.end
}

func (w *waits) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running--; w.running == 0 {
		w.over = w.clock.Now()
		w.signal()
	}
}

func (w *waits) signal() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// present is the wait that goes on; the zero value for none.
func (w *waits) present() Wait {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running == 0 {
		return Wait{}
	}
	return w.now
}

// run reports a wait that lasts, and its end.
func (w *waits) run() {
	shown := Wait{}
	show := func(wait Wait) {
		if wait != shown {
			shown = wait
			w.report(wait)
		}
	}
	var due <-chan time.Time
	for {
		select {
		case <-w.changed:
			due = nil
			if wait := w.present(); wait == (Wait{}) {
				show(wait)
			} else if wait != shown {
				due = w.clock.After(waitShown - w.clock.Now().Sub(wait.Since))
			}
		case <-due:
			if wait := w.present(); w.clock.Now().Sub(wait.Since) >= waitShown { // else a younger one has begun
				show(wait)
			}
		case <-w.done:
			show(Wait{})
			return
		}
	}
}
