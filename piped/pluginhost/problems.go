// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"fmt"
	"slices"
	"time"

	pipedhealth "github.com/pipedeck/pipedeck/piped/health"
)

const (
	// slowStart is how long a process may take to answer before that counts as a problem.
	slowStart = 10 * time.Second
	// maxNamedInputs bounds the quarantined inputs of a plugin that are separate problems; the others are counted.
	maxNamedInputs = 10
)

// problem is why a plugin does not work as it should, and what a user does about it. Zero: it works.
type problem struct {
	reason, nextStep string
	// refused is set for a plugin that goes on because its changed program does not start.
	refused bool
}

// Problems returns a problem for each plugin that does not work as it should, and for each input that piped does not
// give to a plugin any more.
func (h *Host) Problems() (list []pipedhealth.Problem) {
	for _, p := range h.plugins {
		if found := p.condition.currentProblem(time.Now()); found.reason != "" {
			list = append(
				list, pipedhealth.Problem{Part: "plugin " + p.Name(), Reason: found.reason, NextStep: found.nextStep},
			)
		}
		list = append(list, p.suspicion.problems()...)
	}
	return list
}

// restarting is the problem of a plugin that is started again by itself.
func restarting(plugin string, err error) problem {
	return problem{
		reason: "it ended and is started again: " + err.Error(), nextStep: readOutput(plugin),
	}
}

func readOutput(plugin string) string { return "read its output: pipedeck logs --plugin " + plugin }

// nextStep starts a plugin that piped does not start any more.
func (s *supervisor) nextStep() string {
	command := "pipedeck restart " + s.plugin
	if s.watched.Load() {
		return "fix the program, which starts it again, or run: " + command
	}
	return "fix the program, then run: " + command
}

// problems are the quarantined inputs, the first ones by name and the others by their number. Inputs about the same are
// one problem.
func (s *suspicion) problems() (list []pipedhealth.Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var named []string
	more := 0
	for _, key := range s.order {
		known := s.strikes[key]
		if known == nil || !known.quarantined() || known.replaced || slices.Contains(named, known.subject.id) {
			continue
		}
		if len(named) == maxNamedInputs {
			more++
			continue
		}
		named = append(named, known.subject.id)
		list = append(list, pipedhealth.Problem{
			Part: fmt.Sprintf("plugin %s (%s)", s.plugin, known.subject),
			Reason: fmt.Sprintf("piped refuses it because the plugin (build %s) ended %d times during it: %s",
				shortBuild(known.build), known.count, known.last),
			NextStep: s.nextStep(),
		})
	}
	if more > 0 {
		list = append(list, pipedhealth.Problem{
			Part:     fmt.Sprintf("plugin %s (other inputs)", s.plugin),
			Reason:   fmt.Sprintf("piped refuses %d more because the plugin ended during them", more),
			NextStep: s.nextStep(),
		})
	}
	return list
}

func (s *suspicion) nextStep() string {
	return "fix the plugin, or change the stage or the application; to try it again as it is, run: pipedeck restart " +
		s.plugin
}
