// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"maps"
	"slices"
	"sync"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
)

// Dirty names the lists that a piped should fetch again, and the plugins it should restart.
type Dirty struct {
	Applications, Commands, Deployments, Events bool
	RestartPlugins                              []string
	PluginCalls                                 []*agentv1.PluginCallQuestion
	StageReruns                                 []*agentv1.StageRerun
	Faults                                      []*agentv1.FaultOrder
	Looks                                       []*agentv1.LookOrder
	// Breakpoints: those of Environment.
	Breakpoints bool
}

// signals are marked for the connected pipeds: which of their lists have changed, and which plugins to restart.
type signals struct {
	mu      sync.Mutex
	watches map[string]map[*PipedWatch]struct{} // by the piped's id
}

func newSignals() *signals { return &signals{watches: map[string]map[*PipedWatch]struct{}{}} }

func (s *signals) add(w *PipedWatch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watches[w.id] == nil {
		s.watches[w.id] = map[*PipedWatch]struct{}{}
	}
	s.watches[w.id][w] = struct{}{}
}

func (s *signals) remove(w *PipedWatch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watches[w.id], w)
	if len(s.watches[w.id]) == 0 {
		delete(s.watches, w.id)
	}
}

// connected reports whether the piped has a watch.
func (s *signals) connected(pipedID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.watches[pipedID]) > 0
}

// mark marks lists of one piped as changed.
func (s *signals) mark(pipedID string, change func(*Dirty)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches[pipedID] {
		w.mark(change)
	}
}

// markAll marks lists of all pipeds as changed.
func (s *signals) markAll(change func(*Dirty)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, watches := range s.watches {
		for w := range watches {
			w.mark(change)
		}
	}
}

// restart asks a piped to restart a plugin. It reports whether the piped has a watch.
func (s *signals) restart(pipedID, plugin string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches[pipedID] {
		w.mark(func(*Dirty) { w.restarts[plugin] = struct{}{} })
	}
	return len(s.watches[pipedID]) > 0
}

// maxQuestions bounds the questions that wait for one watch.
const maxQuestions = 64

// ask puts a question to a piped. It reports whether the piped has a watch with room for it.
func (s *signals) ask(pipedID string, question *agentv1.PluginCallQuestion) (asked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches[pipedID] {
		if len(w.lists.PluginCalls) < maxQuestions {
			w.mark(func(d *Dirty) { d.PluginCalls = append(d.PluginCalls, question) })
			return true // a second watch is that of a piped that takes the place of the first
		}
	}
	return false
}

// maxReruns bounds the re-runs that wait for one watch.
const maxReruns = 16

// rerun asks a piped to execute a stage once more. It reports whether the piped has a watch with room for it.
func (s *signals) rerun(pipedID string, wanted *agentv1.StageRerun) (asked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches[pipedID] {
		if len(w.lists.StageReruns) < maxReruns {
			w.mark(func(d *Dirty) { d.StageReruns = append(d.StageReruns, wanted) })
			return true
		}
	}
	return false
}

// order passes what a user wants of faults on to a piped. It reports whether the piped has a watch with room for it.
func (s *signals) order(pipedID string, order *agentv1.FaultOrder) (passed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches[pipedID] {
		if len(w.lists.Faults) < maxQuestions {
			w.mark(func(d *Dirty) { d.Faults = append(d.Faults, order) })
			return true
		}
	}
	return false
}

// look passes an order to look at a live state on to a piped. It reports whether that has a watch with room for it.
func (s *signals) look(pipedID string, order *agentv1.LookOrder) (passed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches[pipedID] {
		if len(w.lists.Looks) < maxQuestions {
			w.mark(func(d *Dirty) { d.Looks = append(d.Looks, order) })
			return true
		}
	}
	return false
}

// take returns what is marked for a watch, and begins again with nothing.
func (s *signals) take(w *PipedWatch) Dirty {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := w.lists
	d.RestartPlugins = slices.Sorted(maps.Keys(w.restarts))
	w.lists = Dirty{}
	clear(w.restarts)
	return d
}

func applicationsChanged(d *Dirty) { d.Applications = true }
func commandsChanged(d *Dirty)     { d.Commands = true }
func deploymentsChanged(d *Dirty)  { d.Deployments = true }
func eventsChanged(d *Dirty)       { d.Events = true }
func breakpointsChanged(d *Dirty)  { d.Breakpoints = true }
func allChanged(d *Dirty) {
	d.Applications, d.Commands, d.Deployments, d.Events = true, true, true, true
}
