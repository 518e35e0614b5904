// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"maps"
	"slices"
)

// Dirty names the lists that a piped should fetch again, and the plugins it should restart.
type Dirty struct {
	Applications, Commands, Deployments, Events bool
	RestartPlugins                              []string
}

// PipedWatch tells one connected piped what has changed. It holds a set, not a queue: what it says
// may be merged but is never lost. Close it when the connection ends.
type PipedWatch struct {
	store *Store
	id    string
	// Guarded by store.mu.
	lists    Dirty
	restarts map[string]struct{}
	wake     chan struct{}
}

// WatchPiped connects a piped. The first Next names every list.
func (s *Store) WatchPiped(pipedID string) (*PipedWatch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.piped(pipedID)
	if err != nil {
		return nil, err
	}
	w := &PipedWatch{store: s, id: pipedID, restarts: map[string]struct{}{}, wake: make(chan struct{}, 1)}
	before := p.shownPlugins()
	p.watches[w] = struct{}{}
	p.pluginsStale = false
	s.pipedStateChanged(p)
	s.publishPlugins(p, before)
	w.mark(func(d *Dirty) { d.Applications, d.Commands, d.Deployments, d.Events = true, true, true, true })
	return w, nil
}

// Next waits until there is something to say.
func (w *PipedWatch) Next(ctx context.Context) (Dirty, error) {
	select {
	case <-w.wake:
	case <-ctx.Done():
		return Dirty{}, ctx.Err()
	}
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	d := w.lists
	d.RestartPlugins = slices.Sorted(maps.Keys(w.restarts))
	w.lists = Dirty{}
	clear(w.restarts)
	return d, nil
}

// Close disconnects. When it was the piped's last connection, its plugins are shown as stopped.
func (w *PipedWatch) Close() {
	s := w.store
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pipeds[w.id]
	delete(p.watches, w)
	p.lastSeen = s.now()
	if len(p.watches) == 0 {
		s.pipedStateChanged(p)
	}
	if len(p.watches) > 0 || p.plugins == nil {
		return
	}
	before := p.shownPlugins()
	p.pluginsStale = true
	s.publishPlugins(p, before)
}

func (w *PipedWatch) restart(plugin string) {
	w.mark(func(*Dirty) { w.restarts[plugin] = struct{}{} })
}

func (w *PipedWatch) mark(change func(*Dirty)) {
	change(&w.lists)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// signal marks lists of one piped as changed. The caller holds s.mu.
func (s *Store) signal(pipedID string, change func(*Dirty)) {
	if p := s.pipeds[pipedID]; p != nil {
		for w := range p.watches {
			w.mark(change)
		}
	}
}

func applicationsChanged(d *Dirty) { d.Applications = true }
func commandsChanged(d *Dirty)     { d.Commands = true }
func deploymentsChanged(d *Dirty)  { d.Deployments = true }
func eventsChanged(d *Dirty)       { d.Events = true }
