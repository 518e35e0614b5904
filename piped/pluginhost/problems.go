// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"time"

	pipedhealth "github.com/pipedeck/pipedeck/piped/health"
)

// slowStart is how long a process may take to answer before that counts as a problem.
const slowStart = 10 * time.Second

// problem is why a plugin does not work as it should, and what a user does about it. Zero: it works.
type problem struct{ reason, nextStep string }

// Problems returns a problem for each plugin that does not work as it should.
func (h *Host) Problems() (list []pipedhealth.Problem) {
	for _, p := range h.plugins {
		if found := p.condition.currentProblem(time.Now()); found.reason != "" {
			list = append(
				list, pipedhealth.Problem{Part: "plugin " + p.Name(), Reason: found.reason, NextStep: found.nextStep},
			)
		}
	}
	return list
}

// restarting is the problem of a plugin that is started again by itself.
func restarting(plugin string, err error) problem {
	return problem{"it ended and is started again: " + err.Error(), readOutput(plugin)}
}

func readOutput(plugin string) string { return "read its output: pipedeck logs --plugin " + plugin }

// nextStep starts a plugin that piped does not start any more.
func (s *supervisor) nextStep() string {
	command := "pipedeck restart " + s.plugin
	if s.watched.Load() {
		return "fix the binary, which starts it again, or run: " + command
	}
	return "fix the binary, then run: " + command
}
