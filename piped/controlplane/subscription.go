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
	// StageReruns are stages that a user wants executed once more, each once.
	StageReruns []*agentv1.StageRerun
	// Faults are what users want of faults, each once.
	Faults []*agentv1.FaultOrder
	// Looks are what users want looked at now, each once.
	Looks []*agentv1.LookOrder
	// Again says that the control plane may have forgotten what was reported to it.
	Again bool
	// Breakpoints are all of them; nil when they have not changed.
	Breakpoints *agentv1.Breakpoints
}

// everything names every list.
func everything() Change {
	return Change{Applications: true, Commands: true, Deployments: true, Events: true, Again: true}
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
	// reruns are at most maxReruns.
	reruns []*agentv1.StageRerun
	// orders are at most maxQuestions.
	orders []*agentv1.FaultOrder
	// looks are at most maxQuestions.
	looks []*agentv1.LookOrder
}

// Changed receives when Take has something to give. It is never closed.
func (s *Subscription) Changed() <-chan struct{} { return s.changed }

// Take returns what has changed since the last Take; the zero Change when nothing has.
func (s *Subscription) Take() Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.lists
	taken.PluginCalls, s.questions = s.questions, nil
	taken.StageReruns, s.reruns = s.reruns, nil
	taken.Faults, s.orders = s.orders, nil
	taken.Looks, s.looks = s.looks, nil
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
	s.lists.Again = s.lists.Again || change.Again
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
	s.reruns = append(s.reruns, change.StageReruns...)
	s.reruns = s.reruns[:min(len(s.reruns), maxReruns)]
	s.orders = append(s.orders, change.Faults...)
	s.orders = s.orders[:min(len(s.orders), maxQuestions)]
	s.looks = append(s.looks, change.Looks...)
	s.looks = s.looks[:min(len(s.looks), maxQuestions)]
	select {
	case s.changed <- struct{}{}:
	default:
	}
}
