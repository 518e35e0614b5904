// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"maps"
	"slices"
	"sync"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
)

// Change names the lists that have new answers, and the plugins that a user wants restarted.
type Change struct {
	// Applications: ListApplications.
	Applications bool
	// Commands: ListUnhandledCommands.
	Commands bool
	// Deployments: ListNotCompletedDeployments, by someone else than this piped.
	Deployments bool
	// Events: ListEvents.
	Events bool
	// RestartPlugins is sorted and names each plugin once.
	RestartPlugins []string
	// PluginCalls are questions about the calls of plugins, each once.
	PluginCalls []*agentv1.PluginCallQuestion
	// Breakpoints are all of them; nil when they have not changed.
	Breakpoints *agentv1.Breakpoints
}

// everything names every list.
func everything() Change {
	return Change{Applications: true, Commands: true, Deployments: true, Events: true}
}

// Subscription collects changes for one consumer. It holds a set, not a queue: a slow consumer finds
// changes merged, none missing.
type Subscription struct {
	watcher *Watcher
	changed chan struct{}

	mu       sync.Mutex
	lists    Change
	restarts map[string]struct{}
	// questions are at most maxQuestions.
	questions []*agentv1.PluginCallQuestion
}

// Changed receives when Take has something to give. It is never closed.
func (s *Subscription) Changed() <-chan struct{} { return s.changed }

// Take returns what has changed since the last Take; the zero Change when nothing has.
func (s *Subscription) Take() Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.lists
	taken.PluginCalls, s.questions = s.questions, nil
	taken.RestartPlugins = slices.Sorted(maps.Keys(s.restarts))
	s.lists = Change{}
	clear(s.restarts)
	return taken
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.watcher.mu.Lock()
	defer s.watcher.mu.Unlock()
	delete(s.watcher.subscriptions, s)
}

func (s *Subscription) add(change Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists.Applications = s.lists.Applications || change.Applications
	s.lists.Commands = s.lists.Commands || change.Commands
	s.lists.Deployments = s.lists.Deployments || change.Deployments
	s.lists.Events = s.lists.Events || change.Events
	if change.Breakpoints != nil {
		s.lists.Breakpoints = change.Breakpoints
	}
	for _, plugin := range change.RestartPlugins {
		if len(s.restarts) < maxRestarts {
			s.restarts[plugin] = struct{}{}
		}
	}
	s.questions = append(s.questions, change.PluginCalls...)
	s.questions = s.questions[:min(len(s.questions), maxQuestions)]
	select {
	case s.changed <- struct{}{}:
	default:
	}
}
